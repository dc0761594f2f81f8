// Adds comfort to every page: theme, copy buttons, the panel of contents on narrow screens. Everything can be read without it.
;(() => {
  const root = document.documentElement
  const themes = ['auto', 'light', 'dark']
  const remembered = () => {
    try {
      const theme = localStorage.getItem('florin-theme')
      return themes.includes(theme) ? theme : 'auto'
    } catch {
      return 'auto' // storage can be forbidden
    }
  }
  const show = (theme) => {
    if (theme === 'auto') delete root.dataset.theme
    else root.dataset.theme = theme
  }
  // Before the body is drawn, so that the page does not flash in the other theme.
  show(remembered())

  const setUpTheme = () => {
    const button = document.getElementById('section-theme')
    let theme = remembered()
    const label = () => {
      button.textContent = `Theme: ${theme}`
    }
    button.addEventListener('click', () => {
      theme = themes[(themes.indexOf(theme) + 1) % themes.length]
      show(theme)
      label()
      try {
        if (theme === 'auto') localStorage.removeItem('florin-theme')
        else localStorage.setItem('florin-theme', theme)
      } catch {
        // the choice then lasts as long as the page
      }
    })
    label()
    button.hidden = false
  }

  const copy = async (pre) => {
    try {
      await navigator.clipboard.writeText(pre.textContent)
    } catch {
      // The clipboard needs https; inside a company the page may be served without it.
      getSelection().selectAllChildren(pre)
      if (!document.execCommand('copy')) throw new Error('not copied')
      getSelection().removeAllRanges()
    }
  }

  const setUpCopy = () => {
    const status = document.createElement('p')
    status.setAttribute('role', 'status')
    status.className = 'quiet'
    document.body.append(status)
    for (const figure of document.querySelectorAll('.code')) {
      const button = document.createElement('button')
      button.type = 'button'
      button.textContent = 'Copy'
      button.setAttribute('aria-label', `Copy: ${figure.querySelector('figcaption').textContent}`)
      figure.append(button)
    }
    document.addEventListener('click', async ({ target }) => {
      const button = target.closest?.('.code button')
      if (!button) return
      let result = 'Copied'
      try {
        await copy(button.parentElement.querySelector('pre'))
      } catch {
        result = 'Select and copy'
      }
      button.textContent = result
      status.textContent = result
      setTimeout(() => {
        button.textContent = 'Copy'
        status.textContent = ''
      }, 1600)
    })
  }

  // In commands that are to be pasted: the address that this page came from.
  const setUpAddress = () => {
    for (const code of document.querySelectorAll('.code code')) {
      if (code.textContent.includes('https://florin.example'))
        code.textContent = code.textContent.replaceAll('https://florin.example', location.origin)
    }
  }

  const setUpMenu = (nav) => {
    const menu = nav.querySelector('.menu')
    const narrow = matchMedia('(max-width: 60rem)')
    const fit = () => {
      menu.open = !narrow.matches
    }
    narrow.addEventListener('change', fit)
    nav.addEventListener('click', (event) => {
      if (narrow.matches && event.target.closest('a')) menu.open = false
    })
    fit()
  }

  document.addEventListener('DOMContentLoaded', () => {
    setUpTheme()
    setUpAddress()
    setUpCopy()
    setUpMenu(document.querySelector('nav'))
  })
})()

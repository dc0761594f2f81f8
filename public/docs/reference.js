// Adds comfort to the reference page; everything can be read without it.
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

  const targetOf = (hash) => {
    try {
      return document.getElementById(decodeURIComponent(hash.slice(1)))
    } catch {
      return null // somebody typed a lone %
    }
  }

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

  const setUpFilter = (nav) => {
    const box = nav.querySelector('.filter')
    const input = box.querySelector('input')
    const status = box.querySelector('p')
    const menu = nav.querySelector('.menu')
    const paths = new Map()
    for (const body of document.querySelectorAll('.op > .body')) {
      const path = body.parentElement.querySelector('summary .path')
      paths.set(`#${encodeURIComponent(body.id)}`, path ? path.textContent : '')
    }
    const groups = [...nav.querySelectorAll('[data-group]')].map((details) => ({
      details,
      name: details.querySelector('summary').firstChild.textContent,
      links: [...details.querySelectorAll('li')].map((item) => {
        const link = item.querySelector('a')
        const { hash } = link
        return { item, all: item.className === 'all', text: `${link.textContent} ${hash} ${paths.get(hash) ?? ''}` }
      }),
    }))
    let openBefore

    const filter = () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean)
      if (words.length > 0) openBefore ??= groups.map(({ details }) => details.open)
      let found = 0
      for (const { details, name, links } of groups) {
        let some = false
        for (const { item, all, text } of links) {
          const full = `${name} ${text}`.toLowerCase()
          const hit = words.length === 0 || (!all && words.every((word) => full.includes(word)))
          item.hidden = !hit
          some ||= hit
          if (hit && !all) found += 1
        }
        details.hidden = !some
        if (words.length > 0) details.open = some
      }
      if (words.length === 0 && openBefore) {
        for (const [index, { details }] of groups.entries()) details.open = openBefore[index]
        openBefore = undefined
      }
      status.textContent = words.length === 0 ? '' : found === 0 ? 'Nothing matches' : `${found} found`
    }

    input.addEventListener('input', filter)
    input.addEventListener('keydown', (event) => {
      if (event.key === 'Escape') {
        input.value = ''
        filter()
        input.blur()
      } else if (event.key === 'Enter' && input.value.trim() !== '') {
        groups.flatMap(({ links }) => links).find(({ item }) => !item.hidden)?.item.querySelector('a').click()
      }
    })
    document.addEventListener('keydown', (event) => {
      const typing = event.target.closest?.('input, textarea, select, [contenteditable]')
      if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || typing) return
      event.preventDefault()
      menu.open = true
      input.focus()
      input.select()
    })
    box.hidden = false
  }

  const setUpCurrent = (nav) => {
    const links = new Map()
    for (const link of nav.querySelectorAll('a[href^="#"]')) {
      const target = targetOf(link.hash)
      const block = target?.closest('.op') ?? target
      if (block) links.set(block, link)
    }
    const order = [...links.keys()]
    const visible = new Set()
    let current
    let opened

    const mark = () => {
      const seen = order.filter((block) => visible.has(block))
      const block = seen.find((each) => each.matches('.op')) ?? seen.at(-1)
      const link = links.get(block)
      if (!link || link === current) return
      current?.removeAttribute('aria-current')
      link.setAttribute('aria-current', 'location')
      current = link
      const filtering = nav.querySelector('.filter input').value !== ''
      const group = link.closest('[data-group]')
      if (!filtering && opened && opened !== group) {
        opened.open = false
        opened = undefined
      }
      if (!filtering && group && !group.open) {
        group.open = true
        opened = group
      }
      // scrollIntoView would move the page as well.
      const box = nav.getBoundingClientRect()
      const { top, bottom } = link.getBoundingClientRect()
      if (top < box.top + 80 || bottom > box.bottom - 20) nav.scrollTop += top - box.top - box.height / 3
    }
    const observer = new IntersectionObserver(
      (entries) => {
        for (const { target, isIntersecting } of entries) {
          if (isIntersecting) visible.add(target)
          else visible.delete(target)
        }
        mark()
      },
      { rootMargin: '-160px 0px -65% 0px' },
    )
    for (const block of order) observer.observe(block)
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

  // Browsers open the details around a target by themselves; older ones need a hand.
  const reveal = () => {
    const target = targetOf(location.hash)
    const closed = target?.closest('details:not([open])')
    if (!closed) return
    closed.open = true
    target.scrollIntoView()
  }

  document.addEventListener('DOMContentLoaded', () => {
    const nav = document.querySelector('nav')
    setUpTheme()
    setUpCopy()
    setUpFilter(nav)
    setUpMenu(nav)
    setUpCurrent(nav)
    addEventListener('hashchange', reveal)
    reveal()
  })
})()

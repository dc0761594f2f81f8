// Adds a filter to the reference page, and marks where the reader is; everything can be read without it.
;(() => {
  const targetOf = (hash) => {
    try {
      return document.getElementById(decodeURIComponent(hash.slice(1)))
    } catch {
      return null // somebody typed a lone %
    }
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
    setUpFilter(nav)
    setUpCurrent(nav)
    addEventListener('hashchange', reveal)
    reveal()
  })
})()

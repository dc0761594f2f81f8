// Search over titles and headings of all pages; the index is fetched when the field is first used.
;(() => {
  const nav = document.querySelector('nav')
  const box = nav.querySelector('.filter')
  const input = box.querySelector('input')
  const status = box.querySelector('p')
  const found = box.querySelector('.found')
  const sections = nav.querySelector('.sections')
  const most = 14
  let index

  const load = () => {
    index ??= fetch('/docs/search.json')
      .then((response) => response.json())
      .then((pages) =>
        pages.flatMap(({ address, title, headings }) => [
          { address, title, text: title.toLowerCase() },
          ...headings.map(([id, heading]) => ({
            address: `${address}#${encodeURIComponent(id)}`,
            title: heading,
            under: title,
            text: `${heading} ${title}`.toLowerCase(),
          })),
        ]),
      )
    return index
  }

  const entry = ({ address, title, under }) => {
    const link = document.createElement('a')
    link.href = address
    const words = document.createElement('span')
    words.textContent = title
    link.append(words)
    if (under) {
      const small = document.createElement('small')
      small.textContent = under
      words.append(small)
    }
    const item = document.createElement('li')
    item.append(link)
    return item
  }

  const search = async () => {
    const words = input.value.toLowerCase().replaceAll('_', ' ').split(/\s+/).filter(Boolean)
    sections.hidden = words.length > 0
    if (words.length === 0) {
      found.replaceChildren()
      status.textContent = ''
      return
    }
    const asked = input.value
    const entries = await load()
    if (input.value !== asked) return
    const fits = ({ text }) => words.every((word) => text.replaceAll('_', ' ').includes(word))
    const hits = entries.filter(fits)
    found.replaceChildren(...hits.slice(0, most).map(entry))
    status.textContent = hits.length === 0 ? 'Nothing matches' : `${hits.length} found`
  }
  const show = () =>
    search().catch(() => {
      index = undefined
      sections.hidden = false
      status.textContent = 'The search does not answer; try again'
    })

  input.addEventListener('input', show)
  input.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') {
      input.value = ''
      void show()
      input.blur()
    } else if (event.key === 'Enter') found.querySelector('a')?.click()
  })
  document.addEventListener('keydown', (event) => {
    const typing = event.target.closest?.('input, textarea, select, [contenteditable]')
    if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || typing) return
    event.preventDefault()
    nav.querySelector('.menu').open = true
    input.focus()
    input.select()
  })
  box.hidden = false
})()

/** Shows what is new as soon as the server says that something is. */

const state = document.getElementById('state')
const live = new EventSource('/live')

async function refresh() {
  const answer = await fetch('/')
  const fresh = new DOMParser().parseFromString(await answer.text(), 'text/html')
  document.getElementById('list').replaceChildren(...fresh.getElementById('list').childNodes)
}

live.addEventListener('message', refresh)
live.addEventListener('open', () => {
  state.textContent = 'Live'
  return refresh()
})
live.addEventListener('error', () => {
  state.textContent = 'Not connected; trying again'
})

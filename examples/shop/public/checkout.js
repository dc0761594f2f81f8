/** Sends the card to Florin, then tells the shop that it may be charged. The shop is told the order and nothing else. */

const form = document.getElementById('payment')
const problem = document.getElementById('problem')
const button = document.getElementById('pay')
const names = ['number', 'expiration_date', 'security_code']
const field = (name) => document.getElementById(name)
const { florin, order } = form.dataset
let { session } = form.dataset

field('number').addEventListener('input', ({ target }) => {
  if (target.selectionStart !== target.value.length) return
  target.value = target.value
    .replace(/\D/g, '')
    .replace(/(.{4})(?=.)/g, '$1 ')
    .slice(0, 23)
})
field('expiration_date').addEventListener('input', ({ target, inputType }) => {
  if (/^\d{2}$/.test(target.value) && inputType !== 'deleteContentBackward') target.value += '/'
})

function cardOf() {
  return {
    method: 'card',
    number: field('number').value.replace(/\s/g, ''),
    expiration_date: field('expiration_date').value.trim(),
    security_code: field('security_code').value.trim(),
  }
}

const rules = {
  number: [/^\d{13,19}$/, 'Enter the number on the front of the card, 13 to 19 digits.'],
  expiration_date: [/^(0[1-9]|1[0-2])\/\d{2}$/, 'Enter month and year, such as 12/30.'],
  security_code: [/^\d{3,4}$/, 'Enter the 3 or 4 digits of the security code.'],
}

/** One message a field, tied to it; the first field with one gets the focus. */
function showFieldProblems(problems) {
  for (const name of names) {
    const text = problems[name] ?? ''
    document.getElementById(`${name}-problem`).textContent = text
    if (text) field(name).setAttribute('aria-invalid', 'true')
    else field(name).removeAttribute('aria-invalid')
  }
  const first = names.find((name) => problems[name])
  if (first) field(first).focus()
  return first === undefined
}

function showProblem(text) {
  problem.textContent = text
  problem.hidden = text === ''
}

/** True when Florin has the card. */
async function sendCard(card) {
  const answer = await fetch(`${florin}/checkout/sessions/${session}/fields`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ payment_method: card }),
  })
  if (answer.ok) return true
  if (answer.status !== 400) throw new Error(`fields: ${answer.status}`)
  const { details } = await answer.json()
  const found = details.map(({ pointer }) => pointer.split('/').at(-1)).filter((name) => name in rules)
  showFieldProblems(Object.fromEntries(found.map((name) => [name, 'This does not look right. Please check it.'])))
  if (found.length === 0) showProblem('This card cannot be used here. Please try another one.')
  return false
}

async function pay() {
  const answer = await fetch('/pay', { method: 'POST', body: new URLSearchParams({ order }) })
  if (!answer.ok) throw new Error(`pay: ${answer.status}`)
  const { next, message, session: fresh } = await answer.json()
  if (next) {
    location.assign(next)
    return true
  }
  session = fresh
  showProblem(message)
  field('number').select()
  return false
}

function setBusy(isBusy) {
  form.setAttribute('aria-busy', String(isBusy))
  button.disabled = isBusy
}

form.addEventListener('submit', async (event) => {
  event.preventDefault()
  showProblem('')
  const card = cardOf()
  const problems = names.filter((name) => !rules[name][0].test(card[name])).map((name) => [name, rules[name][1]])
  if (!showFieldProblems(Object.fromEntries(problems))) return
  setBusy(true)
  try {
    // Once the browser is on its way, the button stays off.
    if ((await sendCard(card)) && (await pay())) return
  } catch {
    showProblem('The payment could not be made. Please try again in a moment.')
  }
  setBusy(false)
})

// Who comes back with the back button finds a form that works.
addEventListener('pageshow', () => setBusy(false))

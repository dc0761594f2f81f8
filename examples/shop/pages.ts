import { money, type Product, products } from './catalogue.ts'
import type { Order } from './orders.ts'

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Text from elsewhere, made harmless. */
const escape = (text: string) => text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? character)

const page = (title: string, main: string) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(title)} · Paper &amp; Ink</title>
<link rel="icon" href="/icon.svg">
<link rel="stylesheet" href="/shop.css">
</head>
<body>
<header>
<p class="sandbox"><strong>Sandbox.</strong> No money moves. Use test cards only.</p>
<p class="bar"><a class="brand" href="/">Paper &amp; Ink</a></p>
</header>
<main>
${main}
</main>
<footer>An example shop for Florin. Card details go from your browser to Florin, never to this shop.</footer>
</body>
</html>
`

export const cataloguePage = () =>
  page(
    'Catalogue',
    `<h1>Things to write with</h1>
<ul class="products">
${products.map(productCard).join('\n')}
</ul>`,
  )

const productCard = ({ id, name, text, price }: Product) => `<li>
<img src="/${id}.svg" alt="" width="160" height="90">
<h2>${escape(name)}</h2>
<p>${escape(text)}</p>
<p class="price">${money(price)}</p>
<form action="/orders" method="post"><input type="hidden" name="product" value="${id}"><button>Buy<span class="hidden"> ${escape(name)}</span></button></form>
</li>`

/** The inputs have no names: even without the script no browser would send them to this shop. */
export const checkoutPage = (order: Order, florinUrl: string, message: string | undefined) =>
  page(
    'Checkout',
    `<h1>Checkout</h1>
<div class="checkout">
<section aria-labelledby="summary">
<h2 id="summary">Your order</h2>
<dl><div><dt>${escape(order.product.name)}</dt><dd>${money(order.product.price)}</dd></div>
<div><dt>Shipping</dt><dd>Free</dd></div>
<div class="total"><dt>Total</dt><dd>${money(order.product.price)}</dd></div></dl>
</section>
<form id="payment" novalidate data-order="${order.id}" data-session="${order.sessionId}" data-florin="${escape(florinUrl)}">
<h2>Pay by card</h2>
<p class="problem" id="problem" role="alert"${message === undefined ? ' hidden' : ''}>${escape(message ?? '')}</p>
<noscript><p class="problem">This page needs a script to send your card to Florin and not to this shop. Please allow it.</p></noscript>
${field({ id: 'number', label: 'Card number', autocomplete: 'cc-number', hint: '1234 5678 9012 3456', maxlength: 23 })}
<div class="pair">
${field({ id: 'expiration_date', label: 'Expiry date', autocomplete: 'cc-exp', hint: 'MM/YY', maxlength: 5 })}
${field({ id: 'security_code', label: 'Security code', autocomplete: 'cc-csc', hint: '123', maxlength: 4 })}
</div>
<button id="pay">Pay ${money(order.product.price)}</button>
<details><summary>Test cards</summary>
<dl class="cards">
<div><dt><code>4111 1111 1111 1111</code></dt><dd>asks you to confirm</dd></div>
<div><dt><code>4000 0000 0000 5001</code></dt><dd>is paid at once</dd></div>
<div><dt><code>4000 0000 0000 9995</code></dt><dd>is declined when confirmed</dd></div>
</dl><p>Any later date, security code 123.</p></details>
</form>
</div>
<script src="/checkout.js" type="module"></script>`,
  )

const field = (input: {
  id: string
  label: string
  autocomplete: string
  hint: string
  maxlength: number
}) => `<div class="field">
<label for="${input.id}">${input.label}</label>
<input id="${input.id}" inputmode="numeric" autocomplete="${input.autocomplete}" placeholder="${input.hint}" maxlength="${input.maxlength}" required aria-describedby="${input.id}-problem">
<p class="field-problem" id="${input.id}-problem"></p>
</div>`

export const thanksPage = (order: Order) =>
  page(
    'Thank you',
    `<div class="notice"><div class="mark" aria-hidden="true">✓</div>
<h1>Thank you</h1>
<p>Your payment of <strong>${money(order.product.price)}</strong> for ${escape(order.product.name)} has arrived.</p>
<p class="quiet">Order <code>${order.id}</code></p>
<p><a class="button" href="/">Back to the catalogue</a></p></div>`,
  )

export const waitPage = (order: Order) =>
  page(
    'One moment',
    `<div class="notice"><h1>One moment</h1>
<p>Your bank has not answered yet. Nothing has to be done; do not pay again.</p>
<p><a class="button" href="/return?order=${order.id}">Look again</a></p></div>`,
  )

export const missingPage = () =>
  page(
    'Not found',
    `<div class="notice"><h1>There is nothing here</h1>
<p>The order may be from before the shop was started again: it keeps nothing.</p>
<p><a class="button" href="/">To the catalogue</a></p></div>`,
  )

export const brokenPage = () =>
  page(
    'Not now',
    `<div class="notice"><h1>The shop cannot take payments now</h1>
<p>Nothing was charged. Please try again in a moment.</p>
<p><a class="button" href="/">To the catalogue</a></p></div>`,
  )

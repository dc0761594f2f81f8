/** What is for sale. Prices are here and nowhere else: no page and no request says what something costs. */
export interface Product {
  id: string
  name: string
  text: string
  /** In cents. */
  price: number
}

export const currency = 'EUR'

export const products: readonly Product[] = [
  { id: 'notebook', name: 'Notebook', text: '160 dotted pages, thread-bound, opens flat.', price: 1290 },
  {
    id: 'fountain-pen',
    name: 'Fountain pen',
    text: 'Steel nib, medium, with six cartridges.',
    price: 3450,
  },
  { id: 'postcards', name: 'Postcards', text: 'Twelve woodcuts of birds, on heavy paper.', price: 950 },
]

export const money = (amount: number) =>
  new Intl.NumberFormat('en', { style: 'currency', currency }).format(amount / 100)

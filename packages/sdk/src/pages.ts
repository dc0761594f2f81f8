export interface AnyPage {
  items: readonly unknown[]
  next_cursor?: string | null
}

/** A list that has not been asked for yet. Walk over it with `for await`, or take it page by page. */
export class List<Page extends AnyPage> implements AsyncIterable<Page['items'][number]> {
  readonly #ask: (cursor: string | undefined) => Promise<Page>

  constructor(ask: (cursor: string | undefined) => Promise<Page>) {
    this.#ask = ask
  }

  /** One page: the first, or the one that `cursor` of the query leads to. */
  page(): Promise<Page> {
    return this.#ask(undefined)
  }

  /** Every page from there on. */
  async *pages(): AsyncGenerator<Page, void, undefined> {
    let cursor: string | undefined
    do {
      const page = await this.#ask(cursor)
      yield page
      cursor = page.next_cursor ?? undefined
    } while (cursor !== undefined)
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Page['items'][number], void, undefined> {
    for await (const page of this.pages()) yield* page.items as Awaited<Page['items'][number]>[]
  }
}

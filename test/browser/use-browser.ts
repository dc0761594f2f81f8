import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import axe from 'axe-core'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'

export interface Look {
  width: number
  height: number
  colorScheme: 'light' | 'dark'
}

export const looks: [name: string, look: Look][] = [
  ['phone', { width: 390, height: 844, colorScheme: 'light' }],
  ['phone-dark', { width: 390, height: 844, colorScheme: 'dark' }],
  ['desktop', { width: 1280, height: 900, colorScheme: 'light' }],
  ['desktop-dark', { width: 1280, height: 900, colorScheme: 'dark' }],
]

export const folder = process.env['SCREENSHOTS']

/** A real browser. With SCREENSHOTS=<folder> every page that is inspected leaves a picture there. */
export function useBrowser() {
  let browser: Browser
  let context: BrowserContext | undefined

  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: '/usr/bin/chromium' })
    if (folder) mkdirSync(folder, { recursive: true })
  })
  afterAll(() => browser.close())
  afterEach(() => context?.close())

  return {
    /** A page, and all that the browser complains about meanwhile. */
    async open({ width, height, colorScheme }: Look): Promise<{ page: Page; complaints: string[] }> {
      context = await browser.newContext({ viewport: { width, height }, colorScheme })
      const page = await context.newPage()
      page.setDefaultTimeout(120_000)
      const complaints: string[] = []
      page.on('console', (message) => complaints.push(message.text()))
      page.on('pageerror', (error) => complaints.push(error.message))
      page.on('requestfailed', (request) => complaints.push(`${request.url()} ${request.failure()?.errorText}`))
      return { page, complaints }
    },

    /** What must be true of every page: nothing cut off, nothing that keeps anybody out. Of a very long one, only its `parts` are looked at. */
    async inspect(page: Page, name: string, parts?: readonly string[]): Promise<void> {
      if (folder) await page.screenshot({ path: join(folder, `${name}.png`), fullPage: parts === undefined })
      const size = await page.evaluate('[document.documentElement.scrollWidth, innerWidth]')
      expect(size, `${name} is as wide as the window`).toEqual([page.viewportSize()?.width, page.viewportSize()?.width])
      await page.evaluate(axe.source)
      const run = `axe.run({ include: ${JSON.stringify(parts ?? ['html'])} }, { preload: false })`
      const { violations } = (await page.evaluate(run)) as axe.AxeResults
      expect(
        violations.map(
          ({ id, impact, nodes }) => `${name}: ${impact} ${id} ${nodes.map(({ html }) => html).join(' ')}`,
        ),
      ).toEqual([])
    },
  }
}

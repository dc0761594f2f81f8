import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import { startWorker, type Worker } from '../../src/main/worker.ts'
import { Secret } from '../../src/platform/secret.ts'
import { useApi } from '../api.ts'
import { workerConfig } from '../worker.ts'

const root = join(import.meta.dirname, '../..')
const api = useApi()
let worker: Worker
let metrics: Metrics

interface Metrics {
  names: Set<string>
  /** By name, what has been seen of each label. */
  labels: Map<string, Map<string, Set<string>>>
}

beforeAll(async () => {
  // Nobody is there, and what tells of NATS is there all the same.
  const nowhere = new Secret('nats://127.0.0.1:1')
  worker = await startWorker(workerConfig(api, { natsUrl: nowhere, eventStreamUrl: nowhere, logLevel: 'silent' }))
  await api.request('GET', '/roles')
  const texts = await Promise.all(
    [api.privateUrl(), api.vault.privateUrl(), worker.privateUrl].map(async (url) =>
      (await fetch(`${url}/metrics`)).text(),
    ),
  )
  metrics = readMetrics(texts.join('\n'))
})
afterAll(() => worker.close())

function readMetrics(text: string): Metrics {
  const names = new Set(['up'])
  for (const [, name = '', type = ''] of text.matchAll(/^# TYPE (\w+) (\w+)$/gm)) {
    for (const ending of type === 'histogram' ? ['_bucket', '_count', '_sum'] : ['']) names.add(name + ending)
  }
  const labels: Metrics['labels'] = new Map()
  for (const [, name = '', list = ''] of text.matchAll(/^(\w+)\{(.*)\} /gm)) {
    const seen = labels.get(name) ?? new Map<string, Set<string>>()
    labels.set(name, seen)
    for (const [, key = '', value = ''] of list.matchAll(/(\w+)="([^"]*)"/g)) {
      seen.set(key, (seen.get(key) ?? new Set()).add(value))
    }
  }
  return { names, labels }
}

interface Rule {
  alert: string
  expr: string
  labels: { severity: string }
  annotations: { summary: string; runbook: string }
}

const rules = (
  parse(readFileSync(join(root, 'deploy/prometheus/alerts.yaml'), 'utf8')) as { groups: { rules: Rule[] }[] }
).groups.flatMap((group) => group.rules)
const dashboard = JSON.parse(readFileSync(join(root, 'deploy/grafana/florin.json'), 'utf8')) as {
  panels: {
    id: number
    title: string
    gridPos: { x: number; y: number; w: number; h: number }
    targets: { expr: string }[]
  }[]
}

/** Labels that Prometheus adds. */
const added = new Set(['job', 'instance', 'le'])

/** What an expression asks for that nobody tells. */
function unknownIn(expression: string): string[] {
  const selectors = [...expression.matchAll(/\b((?:florin|nodejs|process)_\w+|up)\b(?:\{([^}]*)\})?/g)]
  return selectors.flatMap(([, name = '', list = '']) => {
    if (!metrics.names.has(name)) return [name]
    const seen = metrics.labels.get(name)
    return [...list.matchAll(/(\w+)(=|!=|=~|!~)"([^"]*)"/g)]
      .filter(([, key = '']) => !added.has(key) && seen !== undefined)
      .filter(([, key = '', how, value = '']) => {
        const values = seen?.get(key)
        // Of a histogram not everything has happened here; gauges tell all their values at once.
        return values === undefined || (how === '=' && !name.endsWith('_count') && !values.has(value))
      })
      .map(([label]) => `${name}{${label}}`)
  })
}

test('every metric that an alert or a panel asks for is told by api, worker or vault', () => {
  const expressions = [
    ...rules.map(({ expr }) => expr),
    ...dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
  ]
  expect(expressions.length).toBeGreaterThan(30)
  expect(expressions.flatMap(unknownIn)).toEqual([])
})

test('what nobody tells is noticed', () => {
  expect(unknownIn('sum(rate(florin_payments_total[5m]))')).toEqual(['florin_payments_total'])
  expect(unknownIn('florin_due_seconds{work="lunch"} > 1')).toEqual(['florin_due_seconds{work="lunch"}'])
  expect(unknownIn('florin_due_seconds{kind="job"} > 1')).toEqual(['florin_due_seconds{kind="job"}'])
})

test('every metric of Florin is on the dashboard', () => {
  const shown = dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)).join(' ')
  const own = [...metrics.names]
    .filter((name) => name.startsWith('florin_'))
    .map((name) => name.replace(/_(bucket|sum|count)$/, ''))
  expect([...new Set(own)].filter((name) => !shown.includes(name))).toEqual([])
})

test('panels do not lie upon each other', () => {
  const cells = dashboard.panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, cell) => `${x + (cell % w)},${y + Math.floor(cell / w)}`),
  )
  expect(new Set(cells).size).toBe(cells.length)
  expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length)
})

test('every alert leads to its own heading in the runbook, and no heading is without an alert', () => {
  const headings = [...readFileSync(join(root, 'docs/runbooks/alerts.md'), 'utf8').matchAll(/^## (\w+)$/gm)].map(
    ([, name]) => name,
  )
  expect(headings).toEqual(rules.map(({ alert }) => alert))
  for (const { alert, labels, annotations } of rules) {
    expect(annotations.runbook).toBe(`docs/runbooks/alerts.md#${alert.toLowerCase()}`)
    expect(['critical', 'warning']).toContain(labels.severity)
  }
})

interface ScrapeJob {
  job_name: string
  relabel_configs?: { source_labels: string[]; regex?: string; target_label?: string; replacement?: string }[]
}

test('every job that an alert or a panel names is scraped under that name, on machines and from the pods of the chart', () => {
  const jobs = parse(readFileSync(join(root, 'deploy/prometheus/scrape.yaml'), 'utf8')) as ScrapeJob[]
  const onMachines = jobs.map(({ job_name: name }) => name).filter((name) => name !== 'florin-pods')
  const [chosen, named] = jobs.find(({ job_name: name }) => name === 'florin-pods')?.relabel_configs ?? []
  expect(named).toMatchObject({ target_label: 'job', source_labels: [chosen?.source_labels[1]] })
  const fromPods = ['api', 'worker', 'vault', 'migrate']
    .filter((component) => new RegExp(`^(?:${chosen?.regex})$`).test(`florin;${component};private`))
    .map((component) => named?.replacement?.replace('$1', component))
  const asked = [...rules, ...dashboard.panels.flatMap(({ targets }) => targets)]
    .flatMap(({ expr }) => [...expr.matchAll(/job="([^"]+)"/g)])
    .map(([, job = '']) => job)
  expect(new Set(onMachines)).toEqual(new Set([...asked, 'florin-api', 'florin-worker', 'florin-vault']))
  expect(new Set(fromPods)).toEqual(new Set(onMachines))
})

test('a job and an outcome that nobody looks after grow old in the metrics', async () => {
  await api.database.query(
    `insert into jobs (id, kind, key, payload, run_at) values (gen_random_uuid(), 'nobody-knows-it', '', '{}', now() - interval '1 hour')`,
  )
  const text = await (await fetch(`${worker.privateUrl}/metrics`)).text()
  expect(Number(/^florin_due_seconds\{work="job"\} ([\d.]+)$/m.exec(text)?.[1])).toBeGreaterThanOrEqual(3_600)
  expect(text).toMatch(/^florin_due_seconds\{work="outcome"\} 0$/m)
})

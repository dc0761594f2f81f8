import { execFile } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { parseAllDocuments } from 'yaml'
import type { ProcessName } from '../src/platform/settings.ts'
import { wrongSettings } from '../test/deploy/wrong-settings.ts'
import { note } from './rig.ts'

/** The files under deploy/ looked at by the tools that they are for: Helm and the schemas of Kubernetes, promtool, systemd-analyze. */
if (process.argv.includes('--help')) {
  console.log(`npm run proof:deploy

Needs Go (it compiles Helm at first, which takes minutes), Python with pip, promtool (Debian: prometheus) and systemd-analyze.

Example: npm run proof:deploy`)
  process.exit(0)
}

const run = promisify(execFile)
const root = join(import.meta.dirname, '..')
const cache = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'florin-deploy')
const scratch = mkdtempSync(join(tmpdir(), 'florin-deploy-'))
const helmVersion = '3.22.0'
const schemasVersion = '1.37.0'
const kubernetesVersions = ['1.27', '1.31', '1.37']
const worstExposure = 2

const variants: Record<string, string[]> = {
  usual: [],
  everything: ['api.autoscaling.enabled=true', 'secrets.nats=nats', 'settings.FLORIN_SHUTDOWN_TIMEOUT_MS=20000'],
  'key service': ['secrets.vaultKey=', 'secrets.keyProvider=florin-key-service'],
  least: ['networkPolicy.enabled=false', 'migrate.enabled=false', 'environment=sandbox'],
}

interface Resource {
  kind: string
  metadata: { name: string }
  spec: {
    template?: { spec: PodSpec }
    podSelector?: unknown
    ingress?: { from?: unknown[]; ports: { port: string }[] }[]
  }
}
interface PodSpec {
  automountServiceAccountToken?: boolean
  securityContext?: object
  containers: { name: string; env: { name: string }[]; securityContext: object; readinessProbe?: object }[]
}

async function bringHelm(): Promise<string> {
  const helm = join(cache, `helm-${helmVersion}`, 'helm')
  if (!existsSync(helm)) {
    note(`compiling Helm ${helmVersion}: a few minutes, once`)
    const env = { ...process.env, GOBIN: join(cache, `helm-${helmVersion}`) }
    await run('go', ['install', `helm.sh/helm/v3/cmd/helm@v${helmVersion}`], { env, cwd: scratch, maxBuffer: 1e8 })
  }
  return helm
}

/** The schemas of many versions of Kubernetes, with a program that applies them. */
async function bringSchemas(): Promise<string> {
  const folder = join(cache, `kubernetes-validate-${schemasVersion}`)
  if (!existsSync(folder)) {
    await run('pip', ['install', '-q', '--target', folder, `kubernetes-validate==${schemasVersion}`], {
      maxBuffer: 1e8,
    })
  }
  return folder
}

async function checkChart() {
  const helm = await bringHelm()
  const schemas = await bringSchemas()
  const chart = join(root, 'deploy/chart')
  await run(helm, ['lint', '--strict', chart])
  const problems: string[] = []
  let resources = 0
  for (const [name, settings] of Object.entries(variants)) {
    for (const version of kubernetesVersions) {
      const values = settings.flatMap((setting) => [
        setting.startsWith('settings.') ? '--set-string' : '--set',
        setting,
      ])
      const { stdout } = await run(helm, ['template', 'florin', chart, '--kube-version', version, ...values])
      const file = join(scratch, `${name}-${version}.yaml`)
      writeFileSync(file, stdout)
      await run('python3', ['-m', 'kubernetes_validate', '--strict', '-k', version, file], {
        env: { ...process.env, PYTHONPATH: schemas },
      })
      const rendered = parseAllDocuments(stdout).map((document) => document.toJS() as Resource | null)
      const found = rendered.filter((resource) => resource !== null)
      resources += found.length
      problems.push(...found.flatMap((resource) => problemsOf(resource).map((problem) => `${name}: ${problem}`)))
    }
  }
  const refused = await run(helm, [
    'template',
    'florin',
    chart,
    '--kube-version',
    '1.31',
    '--set',
    'environment=prod',
  ]).catch(() => 'refused')
  if (refused !== 'refused') problems.push('a wrong value is not refused')
  return { variants: Object.keys(variants).length, kubernetes: kubernetesVersions, resources, problems }
}

function problemsOf({ kind, metadata, spec }: Resource): string[] {
  const pod = spec.template?.spec
  if (kind === 'NetworkPolicy' && metadata.name.endsWith('-vault')) {
    const toVault = spec.ingress?.find(({ ports }) => ports[0]?.port === 'vault')
    return toVault?.from?.length === 2 ? [] : ['the vault is open to more than api and worker']
  }
  if (!pod) return []
  return pod.containers.flatMap(({ name, env, securityContext, readinessProbe }) => [
    ...wrongSettings(
      name as ProcessName,
      env.map((entry) => entry.name),
    ),
    ...(JSON.stringify(securityContext) === safe ? [] : [`${name} has more rights than it needs`]),
    ...(JSON.stringify(pod.securityContext).includes('"runAsNonRoot":true') ? [] : [`${name} may be root`]),
    ...(kind === 'Job' || readinessProbe ? [] : [`${name} has no readiness probe`]),
  ])
}

const safe = JSON.stringify({
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
})

async function checkAlerts() {
  const cwd = join(root, 'deploy/prometheus')
  const { stdout } = await run('promtool', ['check', 'rules', 'alerts.yaml'], { cwd })
  await run('promtool', ['test', 'rules', 'alerts.test.yaml'], { cwd })
  return { rules: Number(/(\d+) rules found/.exec(stdout)?.[1]) }
}

async function checkUnits() {
  // The tool looks for the units in a folder, and for what they name on this machine.
  const folder = join(scratch, 'units')
  mkdirSync(folder)
  cpSync(join(root, 'deploy/systemd'), folder, { recursive: true })
  const env = { ...process.env, SYSTEMD_UNIT_PATH: `${folder}:` }
  const exposure: Record<string, number> = {}
  for (const name of ['florin-migrate', 'florin-vault', 'florin-api', 'florin-worker']) {
    const unit = join(folder, `${name}.service`)
    const { stderr } = await run('systemd-analyze', ['verify', '--man=no', unit], { env })
    if (stderr !== '') throw new Error(stderr)
    const { stdout } = await run('systemd-analyze', ['security', '--offline=true', '--no-pager', unit], { env })
    exposure[name] = Number(/exposure level for \S+ ([\d.]+)/.exec(stdout)?.[1])
  }
  return { exposure }
}

try {
  const chart = await checkChart()
  note(`chart: ${chart.resources} resources, ${chart.problems.length} problems`)
  const alerts = await checkAlerts()
  const units = await checkUnits()
  const passed =
    chart.problems.length === 0 &&
    chart.resources > 0 &&
    alerts.rules > 0 &&
    Object.values(units.exposure).every((level) => level <= worstExposure)
  console.log(JSON.stringify({ proof: 'deploy', chart, alerts, units, passed }))
  process.exitCode = passed ? 0 : 1
} finally {
  rmSync(scratch, { recursive: true, force: true })
}

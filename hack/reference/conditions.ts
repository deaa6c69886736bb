/** The tables of docs/conditions.md: which conditions a kind has, and every reason with what it says and what helps. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { COMPUTED, MEANINGS } from './meanings.ts'
import { type Reason, readReasons } from './reasons.ts'

interface Group {
  title: string
  intro?: string
  /** Whose conditions they are; their types stand in the CRDs. */
  kinds?: readonly string[]
  /** Where below src its reasons are given; the first group that has a file gets it. */
  folders: readonly string[]
}

/** Those that say something of what is synchronised. */
const ENGINES = ['apply', 'controller', 'gitops', 'health', 'lookout', 'permissions', 'render', 'targets']

const GROUPS: readonly Group[] = [
  {
    title: 'DeploymentTargetClaim',
    kinds: ['DeploymentTargetClaim'],
    folders: ['operator/deployment-target-claim/'],
  },
  { title: 'DeploymentTarget', kinds: ['DeploymentTarget'], folders: ['operator/deployment-target/'] },
  { title: 'SpaceRequest', kinds: ['SpaceRequest'], folders: ['operator/space-request/'] },
  { title: 'Environment', kinds: ['Environment'], folders: ['operator/environment/'] },
  { title: 'Namespace', folders: ['operator/onboarding/'] },
  {
    title: 'GitOpsDeploymentManagedEnvironment',
    kinds: ['GitOpsDeploymentManagedEnvironment'],
    folders: ['operator/managed-environment/'],
  },
  {
    title: 'GitOpsDeployment and GitOpsDeploymentSyncRun',
    kinds: ['GitOpsDeployment', 'GitOpsDeploymentSyncRun'],
    folders: ['operator/gitops-deployment/', 'adapters/sops/', ...ENGINES.map((engine) => `engines/${engine}/`)],
  },
  { title: 'GitOpsDeploymentSet', kinds: ['GitOpsDeploymentSet'], folders: ['operator/gitops-deployment-set/'] },
  { title: 'Preview', kinds: ['Preview'], folders: ['operator/preview/'] },
  {
    title: 'GitOpsDeploymentSet and Preview: their repositories, and what may go',
    folders: ['operator/repository-names/', 'operator/removal-guard/'],
  },
  {
    title: 'Workspace: its pod',
    intro:
      'Reasons of `Ready`, and of the step that is not done, from the pods in the target. The sentences go on from the name of the pod, container or volume that they are about.',
    folders: ['operator/workspace/actual-state/'],
  },
  {
    title: 'Workspace and WorkspaceClass',
    kinds: ['Workspace', 'WorkspaceClass'],
    folders: ['operator/workspace/', 'engines/devfiles/'],
  },
  {
    title: 'GitProject, and what reads one',
    kinds: ['GitProject'],
    folders: [
      'kas/git-project-status/',
      'kas/git-polling/',
      'kas/object-stream/',
      'kas/devfiles/',
      'adapters/git/',
      'adapters/artifacts/',
    ],
  },
  {
    title: 'Agent and its manifest projects',
    kinds: ['Agent'],
    folders: ['kas/agent-registration/', 'kas/agent-configuration/', 'agent/gitops/', 'agentcfg/'],
  },
  { title: 'Any kind', folders: ['operator/', 'api/', 'adapters/kube/'] },
  {
    title: 'Answers of kas, the proxy and agents',
    folders: [
      'kas/',
      'proxy/',
      'agent/',
      'agentw/',
      'rpc/',
      'adapters/auth/',
      'adapters/grpc/',
      'adapters/redis/',
      'adapters/http/',
      'dashboard/',
    ],
  },
]

/** The engines that only carry requests say what they say to who asks. */
const CARRIERS = ['engines/tunnel/', 'engines/access/']
/** The command line says its words itself, and at once. */
const NOT_TOLD = ['cli/', 'adapters/control-plane/', 'adapters/processes/', 'std/']

const ANSWERS = GROUPS.at(-1)

function groupOf(file: string): Group | undefined {
  if (NOT_TOLD.some((folder) => file.startsWith(folder))) return undefined
  if (CARRIERS.some((folder) => file.startsWith(folder))) return ANSWERS
  return GROUPS.find(({ folders }) => folders.some((folder) => file.startsWith(folder)))
}

/** Every reason of every group, in order; a word that several files give stands once in a group. */
function toldReasons(): Map<Group, Map<string, Reason[]>> {
  const told = new Map<Group, Map<string, Reason[]>>(GROUPS.map((group) => [group, new Map()]))
  for (const reason of readReasons()) {
    const group = groupOf(reason.file)
    const words = group && told.get(group)
    words?.set(reason.word, [...(words.get(reason.word) ?? []), reason])
  }
  return told
}

/** Reasons of which neither the code nor MEANINGS says anything. */
export const unexplained = (): string[] =>
  [...toldReasons()].flatMap(([{ title }, words]) =>
    [...words].filter(([word, reasons]) => meaningOf(word, reasons) === '').map(([word]) => `${title}: ${word}`),
  )

export const conditionTables = (): string => [...toldReasons()].map(([group, words]) => section(group, words)).join('\n\n')

function section({ title, intro, kinds = [] }: Group, words: Map<string, Reason[]>): string {
  const types = kinds.map((kind) => `Conditions of ${kind}: ${conditionsOf(kind)}`)
  const told = [...words].map(([word, reasons]) => row(word + eventMark(reasons), meaningOf(word, reasons), remedyOf(reasons)))
  const computed = (COMPUTED[title] ?? []).filter(([word]) => !words.has(word)).map(([word, meaning]) => row(word, meaning, ''))
  const rows = [...told, ...computed].sort()
  return [
    `## ${title}`,
    ...(intro ? [intro] : []),
    ...types,
    ['| Reason | What it says | What to do |', '| --- | --- | --- |', ...rows].join('\n'),
  ].join('\n\n')
}

const row = (word: string, meaning: string, remedy: string): string =>
  `| ${word.replace(/^\w+/, '`$&`')} | ${meaning} | ${remedy} |`

const eventMark = (reasons: Reason[]): string => (reasons.some(({ isEvent }) => isEvent) ? ' (Event)' : '')

/** They mean the same whatever a controller says beside them. */
const GENERAL = ['ErrorOccurred', 'ReconcileFailed']

/** What the code says comes first; where it only passes on what others say, MEANINGS has a sentence. */
function meaningOf(word: string, reasons: Reason[]): string {
  const said = GENERAL.includes(word) ? [] : distinct(reasons.map(({ message }) => message).filter(hasWords))
  return cell(said.length > 0 ? said : MEANINGS[word] === undefined ? [] : [MEANINGS[word]])
}

const remedyOf = (reasons: Reason[]): string => cell(distinct(reasons.map(({ remedy }) => remedy).filter(hasWords)))

/** A sentence of which nothing is left but what is filled in says nothing. */
const hasWords = (text: string): boolean => text.replace(/[^a-z]/gi, '').length > 3

const distinct = (texts: string[]): string[] => [
  ...new Set(
    texts.map((text) =>
      text
        .trim()
        .replace(/^…+[.:] */, '')
        .replace(/\.$/, ''),
    ),
  ),
]

const cell = (texts: string[]): string =>
  texts.map(capitalised).join('. Or: ').replaceAll('\n', ' ').replaceAll('|', '\\|').replaceAll('<', '&lt;')

/** A name of a field, such as spec.path or apiURL, stays as it is. */
const capitalised = (text: string): string =>
  text.replace(/^[a-z]+(?=[ ,:]|$)/, (word) => word.charAt(0).toUpperCase() + word.slice(1))

interface Crd {
  spec: {
    names: { kind: string }
    versions: {
      schema: { openAPIV3Schema: { properties: { status: { properties: { conditions: { description: string } } } } } }
    }[]
  }
}

function conditionsOf(kind: string): string {
  const folder = join(import.meta.dirname, '..', '..', 'crds')
  const crds = readdirSync(folder).map((name): Crd => parse(readFileSync(join(folder, name), 'utf8')))
  const crd = crds.find(({ spec }) => spec?.names.kind === kind)
  return crd?.spec.versions[0]?.schema.openAPIV3Schema.properties.status.properties.conditions.description ?? ''
}

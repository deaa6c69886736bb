import { chartsAt, type GitOpsDeploymentSpec, isInRegistry } from '../../api/index.ts'
import { pointerOf } from '../../engines/apply/index.ts'
import { defined } from '../../std/index.ts'
import { helmOf } from './argo-helm.ts'
import type { ForeignFields } from './fields.ts'
import { type ProjectPlace, repositoryUrl } from './made.ts'
import { pathIn } from './paths.ts'

/** The cluster in which Argo CD itself runs. */
export const HERE = ['https://kubernetes.default.svc', 'in-cluster']

export interface ClusterDestination {
  namespace: string | undefined
  /** By its address or its name. */
  cluster: string
  isHere: boolean
}

/** `as`: a template has variables where others have names. */
export function destinationOf(spec: ForeignFields, as: 'objectName' | 'text' = 'objectName'): ClusterDestination {
  const destination = spec.record('destination')
  const cluster = destination?.text('name') ?? destination?.text('server') ?? ''
  destination?.pass('server')
  return { namespace: destination?.[as]('namespace'), cluster, isHere: HERE.includes(cluster) }
}

/** Where the manifests are, and the GitProject that it takes. */
export interface ImportedSource extends ProjectPlace {
  source: GitOpsDeploymentSpec['source']
}

/** The one source of an Application; nothing where Berth follows no such source, which is told. */
export function sourceOf(spec: ForeignFields, isTemplate: boolean): ImportedSource | undefined {
  const several = spec.records('sources')
  const source = several[0] ?? spec.record('source')
  if (several.length > 0) spec.pass('source')
  if (several.length > 1) {
    for (const each of several)
      each.pass('repoURL', 'path', 'chart', 'targetRevision', 'ref', 'name', 'helm', 'kustomize', 'directory', 'plugin')
    spec.tell('Berth follows one repository: make an Application for each of them, or put values beside the chart.', 'sources')
    return undefined
  }
  if (!source) {
    spec.tell('There is no source.')
    return undefined
  }
  return sourceIn(source, isTemplate)
}

function sourceIn(source: ForeignFields, isTemplate: boolean): ImportedSource | undefined {
  const path = pathIn(source, 'path')
  const [chart, plugin, helm] = [source.text('chart'), source.value('plugin'), source.record('helm')]
  source.pass('ref', 'name')
  if (chart) return chartIn(source, chart, isTemplate)
  const revision = revisionOf(source.text('targetRevision'))
  if (plugin !== undefined) {
    source.tell('Berth runs no plug-ins: commit what this one renders.', 'plugin')
    return undefined
  }
  const given = source.text('repoURL') ?? ''
  const isRegistry = isInRegistry(given)
  const url = isRegistry ? given : repositoryUrl(source, 'repoURL')
  if (!helm) tellDirectory(source)
  const rendered = helm && helmOf(helm, { directory: path ?? '.', isTemplate })
  if (url === undefined || path === undefined || (helm && !rendered)) return undefined
  const wanted = { repoURL: url, path, ...revision, ...(rendered && { helm: rendered }) }
  return { url, source: wanted, ...(isRegistry && { type: 'oci' as const }) }
}

/** Argo CD names a registry without a scheme. https://argo-cd.readthedocs.io/en/stable/user-guide/helm/ */
function chartIn(source: ForeignFields, name: string, isTemplate: boolean): ImportedSource | undefined {
  const [given = '', version = '', helm] = [source.text('repoURL'), source.text('targetRevision'), source.record('helm')]
  const rendered = helm && helmOf(helm, { directory: '.', isTemplate })
  const isRegistry = !given.includes('://') || isInRegistry(given)
  const url = isRegistry ? `oci://${given.replace(/^oci:\/\//, '')}` : repositoryUrl(source, 'repoURL')
  if (url === undefined || (helm && !rendered)) return undefined
  const chart = { ...chartsAt(url), name, ...(version !== '' && { version }) }
  return { url, type: isRegistry ? 'oci' : 'helm', source: { chart, ...(rendered && { helm: rendered }) } }
}

function tellDirectory(source: ForeignFields): void {
  const directory = source.record('directory')
  if (directory?.flag('recurse') || source.has('kustomize')) return
  source.tell('Where it holds plain manifests, Berth reads the folders below it, too.', 'path')
}

/** Argo CD takes a range where others take a tag. */
function revisionOf(text: string | undefined): { targetRevision?: string; semver?: string } {
  if (text === undefined || text === '' || text === 'HEAD') return {}
  return /[<>=~^*,]| - |\|\||^v?\d+(?:\.\d+)?\.x$/.test(text) ? { semver: text } : { targetRevision: text }
}

type SyncSpec = Pick<GitOpsDeploymentSpec, 'type' | 'prune' | 'drift' | 'pruneGuard' | 'syncPolicy'>

export function syncSpecOf(spec: ForeignFields): SyncSpec {
  const policy = spec.record('syncPolicy')
  const automated = policy?.record('automated')
  const isAutomated = automated !== undefined && automated.flag('enabled') !== false
  const [prune, selfHeal, allowEmpty] = (['prune', 'selfHeal', 'allowEmpty'] as const).map((name) => automated?.flag(name))
  // It tries again by itself, less and less often.
  policy?.pass('retry')
  const options = policy?.texts('syncOptions').map((option) => option.trim()) ?? []
  if (!isAutomated) spec.tell('It is synchronised by hand: `berth sync` applies, and deletes nothing.', 'syncPolicy')
  return {
    type: isAutomated ? 'automated' : 'manual',
    ...(!(prune && !options.includes('Prune=false')) && { prune: false }),
    ...(!selfHeal && { drift: 'Detect' as const }),
    ...(allowEmpty && { pruneGuard: { allowEmpty } }),
    ...syncOptionsOf(options, policy),
  }
}

const OURS = ['CreateNamespace=true', 'PruneLast=true', 'CreateNamespace=false', 'PruneLast=false'] as const

/** What Berth does in any case, or never does. */
const NEEDLESS =
  /^(?:(?:ServerSideApply|ApplyOutOfSyncOnly|FailOnSharedResource|RespectIgnoreDifferences|ClientSideApplyMigration|SkipDryRunOnMissingResource|Prune)=|(?:Replace|Force)=false$|(?:Validate|Delete)=true$)/

function syncOptionsOf(options: readonly string[], policy: ForeignFields | undefined): Pick<SyncSpec, 'syncPolicy'> {
  const known = OURS.filter((option) => options.includes(option))
  for (const option of options)
    if (option === 'Prune=confirm') policy?.tell('Annotate the objects: `gitops.berth.dev/prune: confirm`.', 'syncOptions')
    else if (!known.some((each) => each === option) && !NEEDLESS.test(option))
      policy?.tell(`${option} has no match.`, 'syncOptions')
  return known.length > 0 ? { syncPolicy: { syncOptions: known } } : {}
}

export function ignoreOf(spec: ForeignFields): Pick<GitOpsDeploymentSpec, 'ignore'> {
  const rules = spec.records('ignoreDifferences').flatMap((rule) => {
    const pointers = [
      ...rule.texts('jsonPointers'),
      ...rule.texts('jqPathExpressions').flatMap((path) => pointerFrom(rule, path)),
    ]
    if (rule.texts('managedFieldsManagers').length > 0)
      rule.tell('What a manager has set is no rule of Berth: name the fields.', 'managedFieldsManagers')
    const [group, kind, name, namespace] = ['group', 'kind', 'name', 'namespace'].map((field) => wordOf(rule, field))
    return pointers.length > 0 ? [{ paths: pointers, target: defined({ group, kind, name, namespace }) }] : []
  })
  const options = spec.record('syncPolicy')?.texts('syncOptions') ?? []
  if (rules.length > 0 && !options.includes('RespectIgnoreDifferences=true'))
    spec.tell('Argo CD does not show where these fields differ, and sets them; Berth leaves them alone.', 'ignoreDifferences')
  return rules.length > 0 ? { ignore: rules } : {}
}

/** `*` is any, which Berth says by leaving it out; no group at all is the core group. */
function wordOf(rule: ForeignFields, field: string): string | undefined {
  const word = rule.text(field) ?? (field === 'group' ? '' : undefined)
  if (word === '*') return undefined
  if (word?.includes('*')) {
    rule.tell(`${word} is a pattern: the rule is for all here.`, field)
    return undefined
  }
  return word
}

/** `.spec.template.metadata.annotations["x/y"]` is a place; with more of jq in it, no pointer means the same. */
function pointerFrom(rule: ForeignFields, path: string): string[] {
  const parts = path.match(/\.[\w-]+|\.?\["[^"]*"\]|\.?\[\d+\]/g) ?? []
  if (parts.length > 0 && parts.join('') === path) return [pointerOf(parts.map(partOf))]
  rule.tell(`${path} is more than a place. Write the fields as jsonPointers.`, 'jqPathExpressions')
  return []
}

const partOf = (part: string): string => part.replaceAll(/^\.?(?:\["?)?|"?\]$/g, '')

/** The finalizer says that what was applied goes with the Application. */
export function deletionOf(finalizers: readonly string[] = []): Pick<GitOpsDeploymentSpec, 'deletionPolicy'> {
  const found = finalizers.find((each) => each.startsWith('resources-finalizer.argocd.argoproj.io'))
  if (found === undefined) return {}
  return { deletionPolicy: found.endsWith('/background') ? 'Delete' : 'Wait' }
}

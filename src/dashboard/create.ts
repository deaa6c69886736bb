import type { Kube } from '../adapters/kube/index.ts'
import {
  DEFAULT_CLASS,
  type GitProject,
  GitProjects,
  type Ref,
  type Workspace,
  WorkspaceClasses,
  type WorkspaceSpec,
  Workspaces,
  withoutGit,
} from '../api/index.ts'
import { sentenceOf } from '../devfile/index.ts'
import { checkDevfile, leftToKas } from '../engines/devfiles/index.ts'
import type { Permissions } from '../engines/permissions/index.ts'
import { Failure, type ReadYaml, type ReadYamlTree, type YamlReaders } from '../std/index.ts'
import { classChoice } from './class-choice.ts'
import { type Html, html } from './html.ts'
import type { PageContent } from './page.ts'
import type { SignedInUser } from './ports.ts'
import type { SharedCaches } from './shared-caches.ts'

interface Creation {
  shared: SharedCaches
  permissions: Permissions
  user: SignedInUser
  /** In the name of that user. */
  kube: Kube
  yaml: YamlReaders
}

const MOST_PROJECTS = 200

/** First which project, then how. `problems` are of what was sent before. */
export async function newPage(
  creation: Creation,
  given: URLSearchParams,
  problems: readonly string[] = [],
): Promise<PageContent> {
  const sought = (given.get('repo') ?? '').trim().slice(0, 500)
  const [namespace = '', name] = (given.get('project') ?? '').split('/')
  if (name !== undefined) return detailsPage(creation, { namespace, name }, given, problems)
  const found =
    sought === '' ? await projectsOf(creation) : (await projectsOf(creation)).filter((project) => isMeant(project, sought))
  const choices = found.slice(0, MOST_PROJECTS).map(
    ({
      metadata,
      spec,
    }) => html`<li class="card"><div class="what"><h2>${spec.path}</h2><p class="facts">${metadata.namespace} · ${spec.url}</p></div>
<div class="do"><a class="button main" href="/new?project=${encodeURIComponent(`${metadata.namespace}/${metadata.name}`)}">Take it<span class="unseen">: ${spec.path} in ${metadata.namespace}</span></a></div></li>`,
  )
  const none =
    sought === ''
      ? 'No project is known in a namespace in which you may make workspaces. Platform engineers make a GitProject for a repository.'
      : `No project with “${sought}” is known in a namespace in which you may make workspaces. Whoever administers one makes a GitProject for it; then you find it here.`
  return {
    title: 'New workspace',
    section: '/new',
    content: html`<p>Step 1 of 2: which project?</p>
<form class="search" method="get" action="/new"><label for="repo">Repository URL or path</label>
<input id="repo" name="repo" value="${sought}" autocomplete="off"> <button class="quiet">Find</button></form>
<ul class="cards">${choices.length > 0 ? choices : html`<li class="nothing">${none}</li>`}</ul>`,
  }
}

/** Finds those whose namespace lets somebody see projects and make workspaces. */
async function projectsOf({ shared, permissions, user: { person } }: Creation): Promise<GitProject[]> {
  const projects = await shared.of(GitProjects)
  const namespaces = [...new Set([...projects.all()].map(({ metadata }) => metadata.namespace ?? ''))]
  const seen = await permissions.where(person, { verb: 'list', kind: GitProjects }, namespaces)
  const made = await permissions.where(person, { verb: 'create', kind: Workspaces }, [...seen])
  return [...projects.all()]
    .filter(({ metadata }) => made.has(metadata.namespace ?? ''))
    .sort((a, b) => (a.spec.path < b.spec.path ? -1 : 1))
}

/** A URL means one repository however it is written; anything else is a part of its path. */
function isMeant({ spec: { url, path } }: GitProject, sought: string): boolean {
  const word = sought.toLowerCase()
  return plain(url) === plain(word) || path.toLowerCase().includes(word.replace(/\.git$/, ''))
}

const plain = (url: string): string =>
  withoutGit(url.toLowerCase())
    .replace(/^(https?|ssh):\/\/([^@/]*@)?/, '')
    .replace(/^git@([^:]+):/, '$1/')

async function detailsPage(
  creation: Creation,
  chosen: Ref & { namespace: string },
  given: URLSearchParams,
  problems: readonly string[],
): Promise<PageContent> {
  const project = (await projectsOf(creation)).find(
    ({ metadata }) => metadata.name === chosen.name && metadata.namespace === chosen.namespace,
  )
  if (!project) throw new Failure('not-found', `you may not make workspaces of the project ${chosen.namespace}/${chosen.name}`)
  const was = (key: string, otherwise = '') => given.get(key) ?? otherwise
  const { select, pings } = await classChoice(creation.kube, was('class', DEFAULT_CLASS))
  const { path } = project.spec
  const suggested = (path.split('/').at(-1) ?? 'web')
    .toLowerCase()
    .replace(/[^a-z0-9-]/g, '-')
    .slice(0, 40)
  const refs = project.status?.refs?.map(({ name }) => name.replace(/^refs\/(heads|tags)\//, '')) ?? []
  const fields: Html[] = [
    field(
      'name',
      'Name',
      html`<input id="name" name="name" required pattern="[a-z0-9]([-a-z0-9]*[a-z0-9])?" maxlength="50" value="${was('name', suggested)}" autocomplete="off">`,
    ),
    field(
      'ref',
      `Branch, tag or commit; without it ${project.status?.defaultBranch ?? project.spec.defaultBranch ?? 'the default branch'}`,
      html`<input id="ref" name="ref" list="refs" value="${was('ref')}" autocomplete="off"><datalist id="refs">${refs.slice(0, 100).map((ref) => html`<option value="${ref}"></option>`)}</datalist>`,
    ),
    field('class', 'Class', select),
    field(
      'devfilePath',
      'Path of the devfile in the project; without it and without text below, the one of the class',
      html`<input id="devfilePath" name="devfilePath" value="${was('devfilePath')}" placeholder=".devfile.yaml" autocomplete="off">`,
    ),
    field(
      'devfile',
      'Or the devfile itself',
      html`<textarea id="devfile" name="devfile" rows="6" spellcheck="false">${was('devfile')}</textarea>`,
    ),
    field(
      'variables',
      'Variables, a NAME=value on each line; no secrets',
      html`<textarea id="variables" name="variables" rows="3" spellcheck="false">${was('variables')}</textarea>`,
    ),
  ]
  return {
    title: 'New workspace',
    section: '/new',
    status: problems.length > 0 ? 422 : 200,
    asks: pings,
    content: html`<p>Step 2 of 2: a workspace of <strong>${path}</strong> in ${chosen.namespace}. <a href="/new">Another project</a></p>
${problems.length > 0 && html`<div class="part" role="alert"><p class="wrong">Nothing was made.</p><ul class="lines">${problems.map((problem) => html`<li>${problem}</li>`)}</ul></div>`}
<form class="fields" method="post" action="/new"><input type="hidden" name="project" value="${`${chosen.namespace}/${chosen.name}`}">
${fields}<button class="main">Make it and start it</button></form>
<p class="facts">Whether the devfile is there is the step “Devfile valid” of its page.</p>`,
  }
}

const field = (id: string, label: string, input: Html): Html =>
  html`<div class="field"><label for="${id}">${label}</label>${input}</div>\n`

/** Creates the Workspace of a form; throws `invalid` with all that is wrong, a line each. */
export async function createWorkspace({ kube, user: { person }, yaml }: Creation, form: URLSearchParams): Promise<Workspace> {
  const said = (key: string) => (form.get(key) ?? '').trim()
  const [namespace = '', gitProject = ''] = said('project').split('/')
  const devfile = form.get('devfile') ?? ''
  const { variables, problems } = variablesIn(said('variables'))
  if (devfile.trim() !== '' && said('devfilePath') !== '') problems.push('Give the devfile or its path, not both.')
  if (devfile.trim() !== '') {
    const read: ReadYamlTree = (text, options) => yaml.readYamlTree(text, options, person.user)
    const readManifest: ReadYaml = (text) => yaml.readYaml(text, person.user)
    const ofClass = await kube.get(WorkspaceClasses, { name: said('class') || DEFAULT_CLASS })
    const settings = ofClass?.spec
    const found = await checkDevfile(devfile, {
      ...{ name: 'the devfile', profile: 'full', settings, hasProject: true },
      ...{ textAt: leftToKas(settings), read, readManifest },
    })
    problems.push(...found.problems.map(sentenceOf))
  }
  if (problems.length > 0) throw new Failure('invalid', problems.join('\n'))
  const spec: WorkspaceSpec = {
    // A cluster that does not write the owner itself takes nobody else.
    owner: person.user,
    project: { gitProject, ...(said('ref') !== '' && { ref: said('ref') }) },
    ...(said('class') !== '' && { workspaceClassName: said('class') }),
    ...(devfile.trim() !== '' && { devfile: { inline: devfile } }),
    ...(said('devfilePath') !== '' && { devfile: { path: said('devfilePath') } }),
    ...(variables.length > 0 && { variables }),
  }
  const metadata = { name: said('name'), namespace }
  return kube.create(Workspaces, { apiVersion: 'berth.dev/v1alpha1', kind: Workspaces.kind, metadata, spec })
}

function variablesIn(text: string): { variables: NonNullable<WorkspaceSpec['variables']>; problems: string[] } {
  const variables: { name: string; value: string }[] = []
  const problems: string[] = []
  for (const line of text.split(/\r?\n/).filter((each) => each.trim() !== '')) {
    const at = line.indexOf('=')
    if (at > 0) variables.push({ name: line.slice(0, at).trim(), value: line.slice(at + 1) })
    else problems.push(`“${line.slice(0, 80)}” is no variable: write it like NAME=value.`)
  }
  return { variables, problems }
}

import { type Workspace, type WorkspaceSpec, workspaceStateOf } from '../api/index.ts'
import { amountOf, Failure } from '../std/index.ts'
import { type Child, type Html, html } from './html.ts'
import { sectionOf } from './view.ts'
import { pathOf } from './workspace-list.ts'
import type { PagePart } from './workspace-parts.ts'

type Size = NonNullable<WorkspaceSpec['resources']>[number]
type What = 'cpu' | 'memory'

const SIZES: Readonly<Record<What, readonly string[]>> = {
  cpu: ['250m', '500m', '1', '2', '3', '4', '6', '8', '12', '16', '24', '32', '48', '64'],
  memory: ['512Mi', '1Gi', '2Gi', '3Gi', '4Gi', '6Gi', '8Gi', '12Gi', '16Gi', '24Gi', '32Gi', '48Gi', '64Gi', '96Gi', '128Gi'],
}
const NAMES: Readonly<Record<What, string>> = { cpu: 'CPU', memory: 'Memory' }
const KINDS = ['cpu', 'memory'] as const
const MOST_CONTAINERS = 20
/** Nothing is started for those any more. */
const ENDED = ['Terminating', 'Terminated']
/** Those have no pod that has a size. */
const WITHOUT_POD = ['CreationRequested', 'Stopped']

/** More or less CPU and memory for its containers, within what its class allows. */
export const sizePart: PagePart = (workspace, { mayResize }) => {
  const state = workspaceStateOf(workspace)
  if (!mayResize || ENDED.includes(state) || workspace.spec.desiredState === 'Terminated') return
  const containers = containersOf(workspace).slice(0, MOST_CONTAINERS)
  if (containers.length === 0)
    return sectionOf('size', 'Size', html`<p>Which containers it has is known while it runs: start it to change their size.</p>`)
  const most = maximumOf(workspace)
  const { metadata, spec, status = {} } = workspace
  const hasPod = !WITHOUT_POD.includes(state)
  const isLate = hasPod && JSON.stringify(status.resources?.applied ?? []) !== JSON.stringify(spec.resources ?? [])
  const together = KINDS.flatMap((what) => (most[what] === undefined ? [] : [`${NAMES[what]} ${most[what]}`]))
  const effect = hasPod
    ? 'What runs keeps its size until the next start. A restart ends the programs in it; its files stay.'
    : 'It has the new size when it is started.'
  return sectionOf(
    'size',
    'Size',
    html`${together.length > 0 && html`<p class="facts">All its containers together may have at most: ${together.join(', ')}.</p>`}
${isLate && html`<p><strong>Another size waits for the next start.</strong></p>`}
<form class="sizes" method="post" action="${pathOf(workspace)}/resize" data-quiet>
<input type="hidden" name="uid" value="${metadata.uid}"><input type="hidden" name="from" value="page">
${containers.map((size, at) => fieldsOf(workspace, size, at))}
<p>${effect}</p>
<div class="buttons"><button class="quiet" id="resize">Change the size</button>
${hasPod && html`<button class="quiet" id="resize-now" name="restart" value="yes">Change it and restart now</button>`}</div></form>`,
  )
}

function fieldsOf(workspace: Workspace, { container, limits }: Size, at: number): Html {
  const selects = KINDS.map((what) => {
    const id = `${what}-${at}`
    const wished = wishFor(workspace, container)?.limits?.[what]?.toString()
    const now = limits?.[what]
    const options = choicesOf(workspace, container, what).map((choice) => optionOf(choice, choice, choice === wished))
    const first = optionOf(
      '',
      `as its devfile says${wished === undefined && now !== undefined ? `: ${now}` : ''}`,
      wished === undefined,
    )
    return html`<div class="field"><label for="${id}">${NAMES[what]}<span class="unseen"> of ${container}</span></label>
<select id="${id}" name="${what}-${container}">${first}${options}</select></div>`
  })
  return html`<fieldset><legend>${container}</legend>${selects}</fieldset>`
}

const optionOf = (value: string, words: Child, isChosen: boolean): Html =>
  html`<option value="${value}"${isChosen && html` selected="selected"`}>${words}</option>`

/** What each container has, and of one that is stopped what is wished for some. */
const containersOf = ({ spec, status }: Workspace): readonly Size[] => status?.resources?.running ?? spec.resources ?? []

const wishFor = ({ spec }: Workspace, name: string): Size | undefined =>
  spec.resources?.find(({ container }) => container === name)

const maximumOf = ({ status }: Workspace): { [what in What]?: number | string } =>
  status?.class?.settings?.maxResourcesPerWorkspace?.limits ?? {}

/** The usual sizes that the class leaves to one container, and the one that it is to have. */
function choicesOf(workspace: Workspace, container: string, what: What): string[] {
  const most = maximumOf(workspace)[what]
  const wished = wishFor(workspace, container)?.limits?.[what]?.toString()
  const allowed = SIZES[what].filter((size) => most === undefined || amountIn(size) <= amountIn(most))
  const known = [...new Set([...allowed, ...(most === undefined ? [] : [most.toString()]), ...(wished ? [wished] : [])])]
  // Of one amount that is written in two ways, the one that is wished.
  const byAmount = new Map(known.map((size) => [amountIn(size), size]))
  return [...byAmount].sort(([a], [b]) => a - b).map(([, size]) => size)
}

/** The resources that a form of that page asks for; throws `invalid` where the class does not allow them. */
export function resizedBy(workspace: Workspace, form: URLSearchParams): Size[] {
  const containers = containersOf(workspace)
  const sizes = containers.map((size) => wantedSize(workspace, size, form))
  for (const what of KINDS) {
    const most = maximumOf(workspace)[what]
    // What the devfile says where something else was wished so far is not known here, and is the operator's to judge.
    const amounts = sizes.map(({ wish, before, has }) => wish.limits?.[what] ?? (before?.limits?.[what] ? 0 : has.limits?.[what]))
    const sum = amounts.reduce((all: number, amount) => all + amountIn(amount ?? 0), 0)
    if (most !== undefined && sum > amountIn(most))
      throw new Failure(
        'invalid',
        `its containers would have more ${NAMES[what]} together than the ${most} that its class allows`,
        {
          remedy: 'Ask for less in one of them',
        },
      )
  }
  const known = new Set(containers.map(({ container }) => container))
  const others = (workspace.spec.resources ?? []).filter(({ container }) => !known.has(container))
  return [...others, ...sizes.flatMap(({ wish }) => (wish.limits || wish.requests ? [wish] : []))]
}

/** What is guaranteed goes down with what may be used, and never up by itself. */
function wantedSize(workspace: Workspace, has: Size, form: URLSearchParams) {
  const { container } = has
  const before = wishFor(workspace, container)
  const limits: Size['limits'] = {}
  const requests: Size['requests'] = {}
  for (const what of KINDS) {
    const asked = form.get(`${what}-${container}`) ?? before?.limits?.[what]?.toString() ?? ''
    if (asked === '') {
      const kept = before?.limits?.[what] === undefined ? before?.requests?.[what] : undefined
      if (kept !== undefined) requests[what] = kept
      continue
    }
    if (!choicesOf(workspace, container, what).includes(asked))
      throw new Failure('invalid', `“${asked.slice(0, 40)}” is no ${NAMES[what]} that container ${container} may have`, {
        remedy: 'Choose one that the page offers',
      })
    limits[what] = asked
    const guaranteed = before?.requests?.[what] ?? has.requests?.[what]
    if (guaranteed === undefined) continue
    if (amountIn(guaranteed) > amountIn(asked)) requests[what] = asked
    else if (before?.requests?.[what] !== undefined) requests[what] = guaranteed
  }
  const wish: Size = { container, ...(isAny(requests) && { requests }), ...(isAny(limits) && { limits }) }
  return { wish, before, has }
}

const isAny = (side: object): boolean => Object.keys(side).length > 0

/** What is no quantity is nothing: the operator says so of it. */
const amountIn = (written: number | string): number => amountOf(written) ?? 0

import { type Agent, Agents, conditionOf, NOT_REPORTED } from '../api/index.ts'
import { beginningOf } from '../std/index.ts'
import { type Child, html } from './html.ts'
import { type ObjectList, troubleOf } from './object-list.ts'
import { since, type Tone } from './words.ts'

/** So many of the things that are wrong with one agent, in so many characters each. */
const MOST_NOTES = 4
const MOST_TEXT = 500
const MOST_VERSIONS = 3

/** Agents, and whether their clusters can be reached. As `berth agent list`. */
export const AGENTS: ObjectList<Agent> = {
  kind: Agents,
  path: '/agents',
  title: 'Agents',
  none: 'There is no Agent in a namespace in which you may list them.',
  row: (agent, now) => {
    const { metadata, spec, status = {} } = agent
    const pods = status.connectedPods ?? []
    const connected = conditionOf(status.conditions, 'Connected')
    const [first] = pods.map(({ connectedAt = '' }) => connectedAt).sort()
    const from = pods.length > 0 ? first : connected?.lastTransitionTime
    const notes = wrongWith(agent)
    const { commit } = status.configuration ?? {}
    return {
      title: metadata.name,
      state: stateOf(agent, notes.length),
      facts: [
        from && html`${pods.length > 0 ? '' : 'not '}connected for ${since(from, now)}`,
        pods.length > 1 && `${pods.length} pods`,
        textOf(
          'version',
          pods.map(({ version }) => version),
        ),
        textOf(
          'Kubernetes',
          pods.map(({ kubernetesVersion }) => kubernetesVersion),
        ),
        `configured in ${spec.configurationProject}${commit ? ` at ${commit.slice(0, 12)}` : ''}`,
        spec.spaces && 'makes namespaces for claims',
      ],
      notes: notes.length > MOST_NOTES ? [...notes.slice(0, MOST_NOTES), `And ${notes.length - MOST_NOTES} more.`] : notes,
    }
  },
}

function stateOf({ status = {} }: Agent, wrong: number): { word: string; tone: Tone } {
  const isConnected = (status.connectedPods ?? []).length > 0
  if (isConnected) return wrong > 0 ? { word: 'Connected, with trouble', tone: 'bad' } : { word: 'Connected', tone: 'good' }
  return conditionOf(status.conditions, 'Connected') ? { word: 'Not connected', tone: 'bad' } : { word: 'Not seen', tone: 'off' }
}

const textOf = (what: string, values: readonly (string | undefined)[]): Child => {
  const known = [...new Set(values.filter((value) => value !== undefined && value !== ''))].sort()
  return known.length > 0 && `${what} ${known.slice(0, MOST_VERSIONS).join(', ')}${known.length > MOST_VERSIONS ? ', …' : ''}`
}

/** In the words of the object itself: what keeps it from being ready, mistakes of its configuration, and projects that are not applied. */
function wrongWith({ status = {} }: Agent): string[] {
  const failing = (status.projects ?? []).filter(({ removed, reason }) => !removed && reason && reason !== NOT_REPORTED)
  return [
    ...troubleOf(status.conditions),
    ...(status.configuration?.errors ?? []).map(
      ({ message, line }) => `${line ? `line ${line}: ` : ''}${beginningOf(message, MOST_TEXT)}`,
    ),
    ...failing.map(({ id, reason, message = '' }) => `${id}: ${reason}${message && `: ${beginningOf(message, MOST_TEXT)}`}`),
  ]
}

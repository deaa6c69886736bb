import { createHash } from 'node:crypto'
import { type ParsedConfiguration, readConfigurationFile } from '../../agentcfg/index.ts'
import type { Ref } from '../../api/index.ts'
import { createYamlTreeReader, LRUCache } from '../../std/index.ts'
import type { CommitSnapshot } from '../ports/ports.ts'

/** The configuration of an agent in one commit. */
export interface FoundConfiguration {
  readonly commit: string
  /** Of the file; `undefined` when there is none. */
  readonly path: string | undefined
  readonly parsed: ParsedConfiguration
}

/** More is not fetched from the mirror. */
const MOST_BYTES = 128 * 2 ** 10

/** The file of an agent may be in these places; the first that is there counts. */
const placesOf = (name: string): string[] => [`.berth/agents/${name}/config.yaml`, `.gitlab/agents/${name}/config.yaml`]

/** `projectPath`: of the project that the commit is of. */
export type FindConfiguration = (
  snapshot: CommitSnapshot,
  agent: Ref,
  projectPath: string,
  signal: AbortSignal,
) => Promise<FoundConfiguration>

interface Unread {
  data: Uint8Array
  projectPath: string
  tenant: string | undefined
}

/** Bytes of files whose configurations are kept. */
const MOST_KEPT = 2 ** 20

/**
 * Reads each file once, in a thread: an agent may have hundreds of pods, and come back as often as it likes, and each is answered with the
 * configuration of the same commit.
 */
export function createConfigurationFinder(readYaml = createYamlTreeReader()): FindConfiguration {
  const known = new LRUCache<string, ParsedConfiguration, Unread>({
    maxSize: MOST_KEPT,
    // A caller still wants what it waits for when other files have taken its place.
    ignoreFetchAbort: true,
    fetchMethod: (_, __, { context: { data, projectPath, tenant }, options }) => {
      options.size = data.length + 1
      return readConfigurationFile(data, projectPath, (text, how) => readYaml(text, how, tenant))
    },
  })
  return (snapshot, agent, projectPath, signal) =>
    find(snapshot, agent.name, signal, (data) => {
      const key = createHash('sha256').update(`${projectPath}\n`).update(data).digest('hex')
      return known.forceFetch(key, { context: { data, projectPath, tenant: agent.namespace } })
    })
}

/** No file is as good as an empty one. */
async function find(
  snapshot: CommitSnapshot,
  agent: string,
  signal: AbortSignal,
  parse: (data: Uint8Array) => Promise<ParsedConfiguration>,
): Promise<FoundConfiguration> {
  const { commit } = snapshot
  const tree = await snapshot.tree()
  const [file] = placesOf(agent).flatMap((place) => tree.file(place) ?? [])
  if (!file) return { commit, path: undefined, parsed: await parse(new Uint8Array()) }
  const { path, size, link } = file
  if (link !== undefined) return { commit, path, parsed: mistake(`${path} is a ${link}; put a regular file there`) }
  if (size > MOST_BYTES) return { commit, path, parsed: mistake(`the file is ${size} bytes; at most ${MOST_BYTES} are read`) }
  const [data] = await snapshot.read([file], signal)
  return { commit, path, parsed: await parse(data ?? new Uint8Array()) }
}

const mistake = (message: string): ParsedConfiguration => ({ mistakes: [{ message, line: 1, column: 1 }] })

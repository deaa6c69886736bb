import { type ParsedConfiguration, parseConfigurationFile } from '../../agentcfg/index.ts'
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

/** No file is as good as an empty one. */
export async function findConfiguration(
  snapshot: CommitSnapshot,
  agent: string,
  projectPath: string,
  signal: AbortSignal,
): Promise<FoundConfiguration> {
  const { commit } = snapshot
  const tree = await snapshot.tree()
  const [file] = placesOf(agent).flatMap((place) => tree.file(place) ?? [])
  if (!file) return { commit, path: undefined, parsed: parseConfigurationFile(new Uint8Array(), projectPath) }
  const { path, size, link } = file
  if (link !== undefined) return { commit, path, parsed: mistake(`${path} is a ${link}; put a regular file there`) }
  if (size > MOST_BYTES) return { commit, path, parsed: mistake(`the file is ${size} bytes; at most ${MOST_BYTES} are read`) }
  const [data] = await snapshot.read([file], signal)
  return { commit, path, parsed: parseConfigurationFile(data ?? new Uint8Array(), projectPath) }
}

const mistake = (message: string): ParsedConfiguration => ({ mistakes: [{ message, line: 1, column: 1 }] })

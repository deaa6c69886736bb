import type { ObjectStream } from '../../adapters/grpc/index.ts'
import type { ManifestProject } from '../../agentcfg/index.ts'
import type { Snapshot } from '../../engines/render/index.ts'
import { type Backoff, type Failure, minutes, type ReadYaml, seconds } from '../../std/index.ts'
import { patternsOf } from './render.ts'

/** The files of one commit of a project. */
export interface Commit extends Snapshot {
  /** The number that kas gave the project. */
  readonly projectId: bigint
}

interface CommitListener {
  onCommit(commit: Commit): void
  /** Hears why no newer commit can be had; `undefined` when that is over. */
  onTrouble(failure: Failure | undefined): void
}

/** GitLab's: full jitter, so that agents do not come back as one. */
const BACKOFF: Backoff = { base: seconds(10), max: minutes(5), jitter: 1 }

export interface SourceOptions {
  stream: Pick<ObjectStream, 'follow'>
  backoff?: Backoff | undefined
  yaml: ReadYaml
}

/**
 * Follows a project until the signal aborts. A commit whose kustomizations lead to folders that were not asked for ends the
 * round; the next one asks for them as well.
 */
export async function followProject(
  project: ManifestProject,
  { stream, backoff = BACKOFF, yaml }: SourceOptions,
  { onCommit, onTrouble }: CommitListener,
  signal: AbortSignal,
): Promise<void> {
  let globs: readonly string[] | undefined = await patternsOf(project, [], yaml)
  while (globs && !signal.aborted) {
    const asked: readonly string[] = globs
    const ending = new AbortController()
    let more: readonly string[] | undefined
    await stream.follow(
      { projectId: project.id, ref: project.ref, globs: asked },
      {
        signal: AbortSignal.any([signal, ending.signal]),
        backoff,
        async onBatch(batch) {
          const wanted = await patternsOf(project, batch.files, yaml)
          if (wanted.every((glob) => asked.includes(glob))) {
            onTrouble(undefined)
            return onCommit(batch)
          }
          more = wanted
          ending.abort()
        },
        onInView: () => onTrouble(undefined),
        onFailure: onTrouble,
      },
    )
    globs = more
  }
}

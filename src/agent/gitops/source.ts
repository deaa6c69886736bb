import type { ObjectStream } from '../../adapters/grpc/index.ts'
import type { ManifestProject } from '../../agentcfg/index.ts'
import type { SourceFile } from '../../engines/render/index.ts'
import { type Backoff, type Failure, minutes, type ReadYaml, seconds } from '../../std/index.ts'
import { patternsOf } from './render.ts'

/** The files of one commit of a project. */
export interface Commit {
  readonly commitId: string
  /** The number that kas gave the project. */
  readonly projectId: bigint
  readonly files: readonly SourceFile[]
}

export interface Ears {
  onCommit(commit: Commit): void
  /** Why no newer commit can be had; `undefined` when that is over. */
  onTrouble(failure: Failure | undefined): void
}

/** GitLab's: full jitter, so that agents do not come back as one. */
const BACKOFF: Backoff = { base: seconds(10), max: minutes(5), jitter: 1 }

export interface Means {
  stream: Pick<ObjectStream, 'follow'>
  backoff?: Backoff | undefined
  yaml: ReadYaml
}

/**
 * Follows a project until the signal aborts. A commit whose kustomizations lead to folders that were not asked for ends the
 * round; the next one asks for them as well.
 */
export async function followProject(project: ManifestProject, means: Means, ears: Ears, signal: AbortSignal): Promise<void> {
  const { yaml } = means
  let globs: readonly string[] | undefined = await patternsOf(project, [], yaml)
  while (globs && !signal.aborted) {
    const asked: readonly string[] = globs
    const ending = new AbortController()
    let more: readonly string[] | undefined
    await means.stream.follow(
      { projectId: project.id, ref: project.ref, globs: asked },
      {
        signal: AbortSignal.any([signal, ending.signal]),
        backoff: means.backoff ?? BACKOFF,
        async onBatch(batch) {
          const wanted = await patternsOf(project, batch.files, yaml)
          if (wanted.every((glob) => asked.includes(glob))) {
            ears.onTrouble(undefined)
            return ears.onCommit(batch)
          }
          more = wanted
          ending.abort()
        },
        onInView: () => ears.onTrouble(undefined),
        onFailure: (failure) => ears.onTrouble(failure),
      },
    )
    globs = more
  }
}

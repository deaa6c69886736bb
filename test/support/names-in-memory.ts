import type { NameSource } from '../../src/operator/repository-names/index.ts'
import { aborted, Failure } from '../../src/std/index.ts'

/** What kas would tell: names by what is asked of which project, with a commit after a space if that is asked; nothing before it is told. */
export function namesInMemory() {
  const told = new Map<string, readonly string[] | Failure>()
  const followers = new Map<Parameters<NameSource['follow']>, string>()
  const deliver = async (to: Parameters<NameSource['follow']>, key: string) => {
    const known = told.get(key)
    if (known instanceof Failure) to[1].onFailure?.(known)
    else if (known) await to[1].onBatch({ commitId: 'c', projectId: 1n, files: known.map(fileOf) })
  }
  const kas: NameSource = {
    async follow(...to) {
      const [{ projectId, ref, globs, names }, { signal }] = to
      const key = `${projectId.split('/')[1]} ${'name' in ref ? ref.name : ''} ${globs.join()} ${names}`
      followers.set(to, key)
      await deliver(to, key)
      await aborted(signal)
      followers.delete(to)
    },
  }
  return {
    source: kas,
    asked: () => [...followers.values()].sort(),
    inView() {
      for (const [to] of followers) to[1].onInView?.()
    },
    async tell(key: string, names: readonly string[] | Failure) {
      told.set(key, names)
      for (const [to, of] of followers) if (of === key) await deliver(to, key)
    },
  }
}

function fileOf(told: string): { source: string; data: Buffer } {
  const [source = '', commit = ''] = told.split(' ')
  return { source, data: Buffer.from(commit) }
}

import type { Kube } from '../../src/adapters/kube/index.ts'
import type { Kind, KubeObject, Ref } from '../../src/api/index.ts'

type Write =
  | { verb: 'create'; kind: Kind; object: KubeObject }
  | { verb: 'apply'; kind: Kind; object: KubeObject }
  | { verb: 'patch'; kind: Kind; ref: Ref; patch: object; subresource: 'status' | undefined }
  | { verb: 'delete'; kind: Kind; ref: Ref }
  | { verb: 'post'; path: string; body: unknown }

export type Trace = Write[]

/** Writes down what is written through it. */
export function recording(kube: Kube, trace: Trace): Kube {
  return {
    ...kube,
    create(kind, object, how) {
      trace.push({ verb: 'create', kind, object })
      return kube.create(kind, object, how)
    },
    apply(kind, object, how) {
      trace.push({ verb: 'apply', kind, object })
      return kube.apply(kind, object, how)
    },
    patch(kind, ref, patch, how) {
      trace.push({ verb: 'patch', kind, ref, patch, subresource: how?.subresource })
      return kube.patch(kind, ref, patch, how)
    },
    delete(kind, ref, how) {
      trace.push({ verb: 'delete', kind, ref })
      return kube.delete(kind, ref, how)
    },
    post(path, body) {
      trace.push({ verb: 'post', path, body })
      return kube.post(path, body)
    },
  }
}

/**
 * The floor: the same writes in the same order by a bare loop, under other names. What ties the trace to its first life
 * (versions, owners' UIDs) is left out, or the API server would refuse or collect what is written. `others`: names that the
 * trace did not create but that must differ too.
 */
export function replayer(trace: Trace, others: string[] = []): (kube: Kube, n: number) => Promise<void> {
  const made = trace.flatMap((write) => ('object' in write ? [write.object.metadata.name] : []))
  const names = new Set([...made, ...others])
  return async (kube, n) => {
    const named = (text: string) => (names.has(text) ? `${text}-${n}` : text)
    const other = (key: string, value: unknown) => {
      if (TIES.has(key)) return
      if (typeof value !== 'string') return value
      return key === 'path' ? value.split('/').map(named).join('/') : named(value)
    }
    for (const write of trace) await send(kube, JSON.parse(JSON.stringify(write, other)))
  }
}

const TIES = new Set(['resourceVersion', 'ownerReferences', 'finalizers', 'uid'])

async function send(kube: Kube, write: Write): Promise<unknown> {
  switch (write.verb) {
    case 'create':
      return kube.create(write.kind, write.object)
    case 'apply':
      return kube.apply(write.kind, write.object, { manager: 'floor', force: true })
    case 'patch':
      return kube.patch(write.kind, write.ref, write.patch, write.subresource ? { subresource: write.subresource } : {})
    case 'delete':
      return kube.delete(write.kind, write.ref)
    case 'post':
      return kube.post(write.path, write.body)
  }
}

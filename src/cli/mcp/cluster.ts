import type { Kube } from '../../adapters/kube/index.ts'
import { isFailure } from '../../std/index.ts'
import { type ClusterOptions, kubeOf, withAdvice } from '../options.ts'
import type { Shell } from '../shell.ts'

interface Opened {
  kube: Promise<Kube>
  users: number
  isOver: boolean
}

/** The cluster as all calls of a client have it: one connection, and one run of whatever program gives out the credentials. */
export function createCluster(shell: Shell, options: ClusterOptions) {
  let opened: Opened | undefined
  const leave = async (one: Opened) => {
    one.users--
    if (one.isOver && one.users === 0) await closed(one)
  }
  return {
    async use<Result>(work: (kube: Kube) => Promise<Result>): Promise<Result> {
      opened ??= { kube: kubeOf(shell, options), users: 0, isOver: false }
      const mine = opened
      mine.users++
      // The next call begins anew: by then the person may have logged in again, or started the cluster.
      const forget = () => {
        mine.isOver = true
        if (opened === mine) opened = undefined
      }
      try {
        const kube = await mine.kube.catch((thrown: unknown) => {
          forget()
          throw thrown
        })
        return await work(kube).catch((thrown: unknown) => {
          if (isFailure(thrown, 'unauthorized', 'unavailable')) forget()
          throw withAdvice(thrown, kube.server)
        })
      } finally {
        await leave(mine)
      }
    },
    async close(): Promise<void> {
      if (opened) await closed(opened)
    },
  }
}

/** One that could not be opened has been told of. */
const closed = ({ kube }: Opened): Promise<void> => kube.then((each) => each.close()).catch(() => undefined)

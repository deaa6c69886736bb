import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type ControlPlaneTools, startControlPlane, statusOf, stopControlPlane } from '../../src/adapters/control-plane/index.ts'
import { Secret } from '../../src/std/index.ts'

export interface Cluster {
  server: string
  /** An administrator's, with a token: what a target's Secret has to hold. */
  kubeconfig: Secret<string>
}

/** The clusters on this machine, each in a folder with the UID of its claim: who is interrupted finds there what was begun. */
export interface Clusters {
  /** Brings the cluster up, unless it is; the same one every time. */
  ensure(uid: string, nodes: number, signal: AbortSignal): Promise<Cluster>
  remove(uid: string): Promise<void>
  uids(): string[]
}

export function createClusters(dir: string, tools: ControlPlaneTools): Clusters {
  /** The last work on each cluster: two controllers may ask at the same time. */
  const turns = new Map<string, Promise<unknown>>()
  const inTurn = <T>(uid: string, work: () => Promise<T>): Promise<T> => {
    const turn = (turns.get(uid) ?? Promise.resolve()).then(work, work)
    turns.set(uid, turn)
    return turn
  }
  return {
    ensure: (uid, nodes, signal) =>
      inTurn(uid, async () => {
        const home = join(dir, uid)
        const status = statusOf(home)
        if (status?.running && status.dead.length === 0) return clusterOf(status)
        // Detached: the clusters of tenants outlive a restart of their provisioner.
        return clusterOf(await startControlPlane({ dir: home, tools, nodes, detached: true, signal }))
      }),
    remove: (uid) =>
      inTurn(uid, async () => {
        await stopControlPlane(join(dir, uid))
        rmSync(join(dir, uid), { recursive: true, force: true })
      }),
    uids: () => readdirSync(dir, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : [])),
  }
}

const clusterOf = ({ server, kubeconfig }: { server: string; kubeconfig: string }): Cluster => ({
  server,
  kubeconfig: new Secret(readFileSync(kubeconfig, 'utf8')),
})

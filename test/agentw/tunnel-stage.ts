import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { tunnelAudienceOf, type Workspace, type WorkspaceSpec } from '../../src/api/index.ts'
import { neighbours, secretFile } from '../kas/routing/kas-stage.ts'
import { type RunningKas, runKas } from '../kas/running-kas.ts'
import { givePod, podToken } from '../operator/workspace/git/pod.ts'
import type { Browser } from '../proxy/browser.ts'
import { hostOf } from '../proxy/running-proxy.ts'
import { type App, type Stage, setStage } from '../proxy/stage.ts'
import { accountToken } from '../support/builders/credentials.ts'
import { type Agentw, runAgentw } from './running-agentw.ts'

/** A proxy that asks kas, and workspaces whose pods open tunnels to it. The app is on 127.0.0.1, as in a pod. */
export interface TunnelStage {
  stage: Stage
  kas: RunningKas
  /** A workspace, with a pod that has a token, and without anything that leads to it. */
  workspace(name: string, spec?: WorkspaceSpec): Promise<{ workspace: Workspace; token: string }>
  /** The program in that pod. It ends with the stage. */
  agentw(workspace: string, token: string, to?: RunningKas): Promise<Agentw>
  signedIn(email: string, name: string): Promise<Browser>
  host(name: string, port?: number): string
  /** One that has no proxy. */
  anotherKas(): Promise<RunningKas>
  close(): Promise<void>
}

/** Port 1 of each workspace is published, and nothing listens there. */
export async function setTunnelStage(app: App): Promise<TunnelStage> {
  const folder = await mkdtemp(join(tmpdir(), 'berth-tunnels-'))
  const agents: Agentw[] = []
  const secret = await secretFile()
  const flagsOf = ({ privateApi, peers }: { privateApi: string; peers: string[] }) => ({
    ...{ privateApi, peers: peers.join() },
    privateApiSecret: secret.file,
  })
  const [own = {}, others = {}] = (await neighbours(2)).map(flagsOf)
  const up: RunningKas[] = []
  const stage = await setStage(app, async ({ kubeconfig, kube }, home) => {
    const first = await runKas({ kubeconfig, namespace: home, flags: { ...own, proxy: `${home}/proxy` } })
    up.push(first)
    const kasToken = join(folder, 'token')
    await writeFile(kasToken, await accountToken(kube, home, 'proxy', ['berth-kas']))
    return { kas: first.addresses.listen, kasToken }
  })
  const [kas] = up
  if (!kas) throw new TypeError('kas is not there')
  const { namespace, cluster, appPort: port } = stage
  const ports = [
    { name: 'app', port },
    { name: 'nobody', port: 1 },
  ]
  return {
    ...{ stage, kas },
    anotherKas: () => runKas({ kubeconfig: cluster.kubeconfig, namespace, flags: others }),
    async workspace(name, spec = {}) {
      const workspace = await stage.workspace(name, { spec, wayIn: 'Tunnel', ports })
      await givePod(cluster.kube, workspace)
      return { workspace, token: await podToken(cluster.kube, workspace, { audience: audienceOf(workspace) }) }
    },
    async agentw(name, token, to = kas) {
      const started = await runAgentw(to.addresses.listen, `${namespace}/${name}`, token)
      agents.push(started)
      return started
    },
    signedIn: (email, name) => stage.signedIn(email, name, {}, port),
    host: (name, number = port) => hostOf(name, number),
    async close() {
      for (const agent of agents) await agent.stop()
      await stage.close()
      await kas.stop()
      await Promise.all([rm(folder, { recursive: true }), secret.remove()])
    },
  }
}

export const audienceOf = ({ metadata }: Workspace): string => tunnelAudienceOf(metadata.uid ?? '')

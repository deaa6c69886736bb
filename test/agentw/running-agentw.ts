import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface Agentw {
  /** Everything it has logged. */
  log(): string
  /** What the kubelet would do. */
  renew(token: string): Promise<void>
  stop(): Promise<void>
}

const BERTH = join(import.meta.dirname, '../../src/cli/main.ts')

/** The program as it is in a pod of that workspace, `namespace/name`. */
export async function runAgentw(kas: string, workspace: string, token: string): Promise<Agentw> {
  const folder = await mkdtemp(join(tmpdir(), 'berth-agentw-'))
  const file = join(folder, 'token')
  await writeFile(file, token)
  const args = ['--kas-address', `grpc://${kas}`, '--token-file', file, '--workspace', workspace, '--log-level', 'debug']
  const child = spawn(process.execPath, [BERTH, 'agentw', ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  const lines: string[] = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data: Buffer) => lines.push(data.toString()))
  return {
    log: () => lines.join(''),
    renew: (other) => writeFile(file, other),
    async stop() {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill()
        await once(child, 'exit')
      }
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Nginx, as Debian has it. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { debianPrograms } from './debian.ts'
import { eventually } from './verbs.ts'

const DEBIAN = debianPrograms('nginx', 'nginx')

/** Why the tests with it are left out; `undefined` where it can be had. */
export const lacksNginx = DEBIAN.lacks

export interface RunningNginx {
  /** What it complained of. */
  complaints(): Promise<string>
  /** Ends it, and takes its folder away. */
  stop(): Promise<void>
}

/** With `http` as what is in its block of that name, which listens on the port; `files` lie in its folder, by name. */
export async function startNginx(http: string, port: number, files: Record<string, string> = {}): Promise<RunningNginx> {
  const folder = await mkdtemp(join(tmpdir(), 'berth-nginx-'))
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((each) => `${each}_temp_path ${folder}/${each};`)
  const lines = ['daemon off;', 'master_process off;', `pid ${folder}/pid;`, `error_log ${folder}/errors warn;`, 'events {}']
  const config = `${lines.join('\n')}\nhttp {\naccess_log off;\n${temporary.join('\n')}\n${http}\n}\n`
  await writeFile(join(folder, 'nginx.conf'), config)
  const [program, ...words] = DEBIAN.words('usr/sbin/nginx')
  const child: ChildProcess = spawn(program, [...words, '-p', folder, '-c', 'nginx.conf', '-e', 'errors'], { stdio: 'inherit' })
  const complaints = () => readFile(join(folder, 'errors'), 'utf8')
  await eventually(async () => {
    if (child.exitCode !== null) throw new Error(`nginx ended: ${await complaints()}`)
    const socket = connect(port, '127.0.0.1')
    await once(socket, 'connect')
    socket.destroy()
    return true
  })
  return {
    complaints,
    async stop() {
      const over = once(child, 'exit')
      child.kill('SIGTERM')
      await over
      await rm(folder, { recursive: true, force: true })
    },
  }
}

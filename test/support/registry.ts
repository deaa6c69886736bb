import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { buildGo, lacksGo, startServing } from './go-program.ts'

const SOURCE = join(import.meta.dirname, 'registry')

/** Why the tests with a registry are left out; `undefined` where there can be one. */
export const lacksRegistry = (): Promise<string | undefined> => lacksGo(SOURCE)

/** A registry for images, on loopback and without TLS. */
export interface Registry {
  /** Such as `localhost:5000`, with which names of images begin. */
  host: string
  stop(): Promise<void>
}

interface How {
  /** Runs a program in the network whose loopback it is to serve on; without it that is the machine's. */
  enter?: readonly string[]
  /** Any free one without it. */
  port?: number
  /** Who is let in, as in `user:password`; everybody without it. */
  credential?: string
}

/** Serves the images in a folder, where another registry may have left them. */
export async function serveRegistry(folder: string, { enter = [], port = 0, credential }: How = {}): Promise<Registry> {
  await mkdir(folder, { recursive: true })
  const flags = ['-folder', folder, '-listen', `127.0.0.1:${port}`, ...(credential ? ['-credential', credential] : [])]
  const [program = '', ...words] = [...enter, await buildGo(SOURCE), ...flags]
  const { lines, stop } = await startServing(program, words, 1)
  return { host: `localhost:${lines[0]?.split(':').at(-1)}`, stop }
}

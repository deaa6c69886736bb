import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { buildGo, isBuilt, lacksGo, servingGo } from './go-program.ts'

const SOURCE = join(import.meta.dirname, 'registry')

/** Why the tests with a registry are left out; `undefined` where there can be one. */
export const lacksRegistry = async (): Promise<string | undefined> =>
  process.env.TEST_NODE === 'make' || isBuilt(SOURCE)
    ? lacksGo(SOURCE)
    : 'the registry is not built yet: `npm test -- e2e` does that, once'

/** A registry for images, on loopback and without TLS. */
export interface Registry {
  /** Such as `localhost:5000`, with which names of images begin. */
  host: string
  stop(): Promise<void>
}

export async function serveRegistry(folder: string): Promise<Registry> {
  await mkdir(folder, { recursive: true })
  const { lines, stop } = await servingGo(await buildGo(SOURCE), ['-folder', folder], 1)
  return { host: `localhost:${lines[0]?.split(':').at(-1)}`, stop }
}

import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { basename, dirname, join } from 'node:path'
import { portOf } from './addresses.ts'

export interface NpmRegistry {
  /** For `npm --registry`. */
  url: string
  close(): Promise<void>
}

/** A registry of npm, on loopback, which has the package that is installed in a folder and no other. */
export async function npmRegistry(folder: string): Promise<NpmRegistry> {
  const described = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const { name, version }: { name: string; version: string } = described
  const server = createServer(({ url }, response) => {
    if (url === `/${name}`) {
      const dist = { tarball: `http://127.0.0.1:${portOf(server)}/${name}.tgz` }
      return void response.end(JSON.stringify({ name, versions: { [version]: { ...described, dist } } }))
    }
    if (url !== `/${name}.tgz`) return void response.writeHead(404).end()
    // npm takes off the first folder, whatever it is called.
    spawn('tar', ['-c', '-C', dirname(folder), basename(folder)]).stdout.pipe(response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${portOf(server)}`,
    close: () => new Promise((resolve) => void server.close(() => resolve())),
  }
}

import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { cacheFolder } from '../../../src/adapters/control-plane/index.ts'

/** The proxy that JupyterHub has before its servers. */
export const PEER = 'configurable-http-proxy@5.3.0'

/** Its module, fetched from npm when it is not there yet: only this bench needs it. */
export async function peerModule(): Promise<string> {
  const folder = join(cacheFolder('peer', process.env), PEER)
  const module = join(folder, 'node_modules/configurable-http-proxy/lib/configproxy.js')
  const words = ['install', '--prefix', folder, '--no-save', '--ignore-scripts', '--no-audit', '--no-fund', PEER]
  if (!existsSync(module)) await promisify(execFile)('npm', words)
  return module
}

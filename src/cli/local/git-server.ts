import { resolve } from 'node:path'
import { makeFolder } from '../../adapters/control-plane/index.ts'
import { serveGit } from '../../adapters/git/index.ts'
import { portNumber } from '../options.ts'
import { ended } from '../signals.ts'
import { actionVerb } from '../verb.ts'

export const verb = actionVerb({
  description:
    'Serve a folder of bare Git repositories over smart HTTP, on loopback unless told otherwise: for trials, not for the world. Whoever reaches it may push.',
  examples: [['berth git-server --repositories /srv/git', 'until Ctrl-C']],
  options: (command) =>
    command
      .requiredOption('--repositories <folder>', 'folder that holds the bare repositories (made when it is missing)')
      .option('--host <address>', 'address to listen on; 0.0.0.0 is every one', '127.0.0.1')
      .option('--port <number>', '0 lets the kernel choose', portNumber, 0),
  async run(shell, { repositories, ...at }: { repositories: string; host: string; port: number }) {
    const folder = resolve(shell.cwd, repositories)
    makeFolder(folder)
    const server = await serveGit({ folder, ...at, environment: { PATH: shell.env.PATH ?? '' } })
    shell.print(JSON.stringify({ message: 'serving', url: server.url, folder }))
    await ended(shell.signal)
    await server.stop()
  },
})

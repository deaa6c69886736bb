import { resolve } from 'node:path'
import { makeFolder } from '../../adapters/control-plane/index.ts'
import { serveGit } from '../../adapters/git/index.ts'
import { portNumber } from '../options.ts'
import { ended } from '../signals.ts'
import { actionVerb } from '../verb.ts'

export const verb = actionVerb({
  description:
    'Serve a folder of bare Git repositories over smart HTTP on loopback: for trials, not for the world. Whoever reaches it may push.',
  examples: [['berth git-server --repositories /srv/git', 'until Ctrl-C']],
  options: (command) =>
    command
      .requiredOption('--repositories <folder>', 'folder that holds the bare repositories (made when it is missing)')
      .option('--port <number>', 'port on 127.0.0.1; 0 lets the kernel choose', portNumber, 0),
  async run(shell, { repositories, port }: { repositories: string; port: number }) {
    const folder = resolve(shell.cwd, repositories)
    makeFolder(folder)
    const server = await serveGit({ folder, port, environment: { PATH: shell.env.PATH ?? '' } })
    shell.print(JSON.stringify({ message: 'serving', url: server.url, folder }))
    await ended(shell.signal)
    await server.stop()
  },
})

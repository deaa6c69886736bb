import { resolve } from 'node:path'
import type { Command } from 'commander'
import { makeFolder } from '../../adapters/control-plane/index.ts'
import { serveGit } from '../../adapters/git/index.ts'
import { exitCodes } from '../exit-codes.ts'
import { examples, portNumber } from '../options.ts'
import type { Shell } from '../shell.ts'
import { ended } from '../signals.ts'
import type { Finish } from '../verb.ts'

interface Options {
  repositories: string
  port: number
}

export const verb = {
  define(command: Command, shell: Shell, finish: Finish): void {
    command
      .description(
        'Serve a folder of bare Git repositories over smart HTTP on loopback: for trials, not for the world. Whoever reaches it may push.',
      )
      .requiredOption('--repositories <folder>', 'folder that holds the bare repositories (made when it is missing)')
      .option('--port <number>', 'port on 127.0.0.1; 0 lets the kernel choose', portNumber, 0)
      .addHelpText('after', examples(['berth git-server --repositories /srv/git', 'until Ctrl-C']))
      .action(
        finish(async ({ repositories, port }: Options) => {
          const folder = resolve(shell.cwd, repositories)
          makeFolder(folder)
          const server = await serveGit({ folder, port, environment: { PATH: shell.env.PATH ?? '' } })
          shell.print(JSON.stringify({ message: 'serving', url: server.url, folder }))
          await ended(shell.signal)
          await server.stop()
          return exitCodes.ok
        }),
      )
  },
}

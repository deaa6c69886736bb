import { mkdirSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { serveGit } from '../../adapters/git/index.ts'
import { exitCodes } from '../exit-codes.ts'
import { examples, wholeNumber } from '../options.ts'
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
      .option('--port <number>', 'port on 127.0.0.1; 0 lets the kernel choose', wholeNumber, 0)
      .addHelpText('after', examples(['berth git-server --repositories /srv/git', 'until Ctrl-C']))
      .action(
        finish(async ({ repositories, port }: Options) => {
          const folder = resolve(shell.cwd, repositories)
          mkdirSync(folder, { recursive: true })
          const server = await serveGit({ folder, port, environment: { PATH: shell.env.PATH ?? '' } })
          shell.print(JSON.stringify({ message: 'serving', url: server.url, folder }))
          await ended(shell.signal)
          await server.stop()
          return exitCodes.ok
        }),
      )
  },
}

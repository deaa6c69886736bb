import { existsSync } from 'node:fs'
import type { Command } from 'commander'
import { exitCodes } from '../exit-codes.ts'
import { takeDown } from '../local/installation.ts'
import { dirOf, examples, withDir } from '../options.ts'
import type { Shell } from '../shell.ts'
import type { Finish } from '../verb.ts'

interface Options {
  dir: string
  remove?: boolean
}

export const verb = {
  define(command: Command, shell: Shell, finish: Finish): void {
    withDir(command)
      .description('End what `berth up` left running in a folder. What is stored there stays, for the next `up`.')
      .option('--remove', 'also remove the folder with everything in it; only one that Berth made')
      .addHelpText(
        'after',
        examples(['berth down', 'what runs for this folder'], ['berth down --dir /tmp/one --remove', 'and forget it']),
      )
      .action(
        finish(async (options: Options) => {
          const dir = dirOf(shell, options)
          const was = existsSync(dir)
          const ran = await takeDown(shell, dir, { remove: options.remove, signal: shell.signal })
          const removed = options.remove === true && was
          const said = ran ? `Berth in ${dir} is down.` : `Nothing was running in ${dir}.`
          shell.print(removed ? `${said} The folder was removed.` : said)
          return exitCodes.ok
        }),
      )
  },
}

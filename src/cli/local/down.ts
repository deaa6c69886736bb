import { existsSync } from 'node:fs'
import { dirOf, withDir } from '../options.ts'
import { actionVerb } from '../verb.ts'
import { takeDown } from './installation.ts'

export const verb = actionVerb({
  description: 'End what `berth up` left running in a folder. What is stored there stays, for the next `up`.',
  examples: [
    ['berth down', 'what runs for this folder'],
    ['berth down --dir /tmp/one --remove', 'and forget it'],
  ],
  options: (command) =>
    withDir(command).option('--remove', 'also remove the folder with everything in it; only one that Berth made'),
  async run(shell, options: { dir: string; remove?: boolean }) {
    const dir = dirOf(shell, options)
    const was = existsSync(dir)
    const ran = await takeDown(shell, dir, { remove: options.remove, signal: shell.signal })
    const said = ran ? `Berth in ${dir} is down.` : `Nothing was running in ${dir}.`
    shell.print(options.remove && was ? `${said} The folder was removed.` : said)
  },
})

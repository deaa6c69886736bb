import type { Command } from 'commander'
import { defineRun } from '../agent/run.ts'
import { examples } from '../options.ts'
import type { Shell } from '../shell.ts'
import type { Finish } from '../verb.ts'

/** Everything about agents; each verb stands in a file of ../agent. */
export const verb = {
  define(command: Command, shell: Shell, finish: Finish): void {
    command
      .description('Run an agent in a target cluster.')
      .addHelpText('after', examples(['berth agent run --help', 'how an agent is run']))
    const sub = (name: string, summary: string): Command => command.command(name).summary(summary).copyInheritedSettings(command)
    defineRun(sub('run', 'run the agent'), shell, finish)
  },
}

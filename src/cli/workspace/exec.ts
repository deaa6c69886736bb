import type { Command } from 'commander'
import { SHELL_SCRIPT } from '../../engines/lookout/index.ts'
import type { ObjectOptions } from '../find-object.ts'
import type { Shell } from '../shell.ts'
import { actionVerb } from '../verb.ts'
import { insideWorkspace } from './inside.ts'
import { withWorkspace } from './workspace.ts'

interface Options extends ObjectOptions {
  container?: string
  stdin?: boolean
  tty?: boolean
}

const withContainer = (command: Command): Command =>
  command.option('-c, --container <name>', 'in this container (default: the first one of the devfile)')

const RIGHTS =
  'It goes by `kubectl exec`, and wants the right to that: the owner has it in a space of its own; elsewhere whoever may read the credentials of its target.'

export const exec = actionVerb({
  description: `Run a command in a workspace. The exit code is that of the command. ${RIGHTS}`,
  examples: [
    ['berth exec web -n team-a -- make test', 'and see how it ends'],
    ['berth exec web -c tools -it -- bash', 'at the terminal'],
    ['berth exec web -i -- tar x < files.tar', 'with input'],
  ],
  options: (command) =>
    withContainer(withWorkspace(command).argument('<command...>', 'the command, after --'))
      .option('-i, --stdin', 'pass standard input on')
      .option('-t, --tty', 'give it a terminal'),
  run: (shell, name: string, words: string[], options: Options) =>
    insideWorkspace<Options>(({ kubectl, pod, container }, { stdin, tty }) =>
      kubectl('exec', pod, '-c', container, ...(stdin ? ['-i'] : []), ...(tty ? ['-t'] : []), '--', ...words),
    )(shell, name, options),
})

export const ssh = actionVerb({
  description: `Open a shell in a workspace, in the folder of its project. No SSH is spoken, and no key is asked for; \`berth ssh-config\` is for clients of SSH. ${RIGHTS}`,
  examples: [
    ['berth ssh web -n team-a', '$SHELL there, else bash, else sh'],
    ['berth ssh web -c database', 'in another container'],
  ],
  options: (command) => withContainer(withWorkspace(command)),
  run: (shell: Shell, name: string, options: Options) =>
    insideWorkspace<Options>(({ kubectl, pod, container }) =>
      kubectl('exec', pod, '-c', container, '-i', '-t', '--', 'sh', '-c', SHELL_SCRIPT),
    )(shell, name, options),
})

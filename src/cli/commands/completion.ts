import { Argument, Command } from 'commander'
import { type ExitCode, exitCodes } from '../exit-codes.ts'
import { examples } from '../options.ts'
import type { Shell } from '../shell.ts'
import type { Entry, Finish } from '../verb.ts'

const SHELLS = ['bash', 'zsh', 'fish'] as const
type ShellName = (typeof SHELLS)[number]

interface Described {
  name: string
  summary: string
  options: { flag: string; about: string }[]
}

export const verb = {
  define(command: Command, shell: Shell, finish: Finish, all: readonly Entry[]): void {
    command
      .addArgument(new Argument('<shell>', 'the shell to complete in').choices(SHELLS))
      .addHelpText(
        'after',
        examples(
          ['source <(berth completion bash)', 'this shell'],
          ['berth completion zsh > ~/.zfunc/_berth', 'every shell'],
          ['berth completion fish > ~/.config/fish/completions/berth.fish', 'every shell'],
        ),
      )
      .action(
        finish(async (name: ShellName): Promise<ExitCode> => {
          shell.print(SCRIPTS[name](await describeVerbs(shell, all)))
          return exitCodes.ok
        }),
      )
  },
}

/** The options come from the verbs themselves, so that a script cannot know less than `--help`. */
async function describeVerbs(shell: Shell, all: readonly Entry[]): Promise<Described[]> {
  const described = all.map(async ({ name, summary, load }) => {
    const command = new Command(name)
    const loaded = await load()
    loaded.verb.define(command, shell, () => async () => undefined, all)
    const options = command.options.map(({ long, short, description }) => ({ flag: long ?? short ?? '', about: description }))
    return { name, summary, options: [...options, { flag: '--help', about: 'print the help of this verb' }] }
  })
  return Promise.all(described)
}

const flagsOf = ({ options }: Described): string => options.map(({ flag }) => flag).join(' ')

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

const SCRIPTS: Record<ShellName, (verbs: Described[]) => string> = {
  bash: (all) => `# bash completion for berth
_berth() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}"
  case "$before" in
    -o|--output) COMPREPLY=($(compgen -W 'table json yaml' -- "$word")); return ;;
    --dir|--repositories) COMPREPLY=($(compgen -d -- "$word")); return ;;
    --kubeconfig) COMPREPLY=($(compgen -f -- "$word")); return ;;
  esac
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W '${all.map(({ name }) => name).join(' ')} help' -- "$word"))
    return
  fi
  case "\${COMP_WORDS[1]}" in
${all.map((each) => `    ${each.name}) COMPREPLY=($(compgen -W '${flagsOf(each)}${each.name === 'completion' ? ` ${SHELLS.join(' ')}` : ''}' -- "$word")) ;;`).join('\n')}
  esac
}
complete -F _berth berth`,

  zsh: (all) => `#compdef berth
_berth() {
  local -a verbs
  verbs=(
${all.map(({ name, summary }) => `    ${quoted(`${name}:${summary}`)}`).join('\n')}
  )
  if (( CURRENT == 2 )); then _describe 'verb' verbs; return; fi
  case "$words[2]" in
${all.map(({ name, options }) => `    ${name}) _arguments ${options.map(({ flag, about }) => quoted(`${flag}[${about.replaceAll(/[[\]:]/g, '')}]`)).join(' ')} '*:file:_files' ;;`).join('\n')}
  esac
}
if [ "$funcstack[1]" = "_berth" ]; then _berth "$@"; else compdef _berth berth; fi`,

  fish: (all) => `# fish completion for berth
complete -c berth -f
${all
  .flatMap(({ name, summary, options }) => [
    `complete -c berth -n __fish_use_subcommand -a ${name} -d ${quoted(summary)}`,
    ...options.map(
      ({ flag, about }) =>
        `complete -c berth -n '__fish_seen_subcommand_from ${name}' -l ${flag.replace(/^--?/, '')} -d ${quoted(about)}`,
    ),
  ])
  .join('\n')}
complete -c berth -n '__fish_seen_subcommand_from completion' -a '${SHELLS.join(' ')}'`,
}

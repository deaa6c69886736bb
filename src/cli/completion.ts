import { Argument, Command } from 'commander'
import { candidatesFor } from './candidates.ts'
import { exitCodes } from './exit-codes.ts'
import { examples } from './options.ts'
import { FORMATS, LIST_FORMATS } from './output.ts'
import type { Shell } from './shell.ts'
import type { Verb, VerbEntry } from './verb.ts'

const SHELLS = ['bash', 'zsh', 'fish'] as const
/** Asked by the scripts themselves: what the cluster knows. */
const WORDS = 'words'
type ShellName = (typeof SHELLS)[number]

interface Described {
  name: string
  /** All the words that lead to it: `agent token add`. */
  path: string
  summary: string
  options: { flag: string; about: string }[]
  parts: Described[]
  /** It does nothing without one of its parts. */
  isGroup: boolean
}

export const verb: Verb = {
  define(command, shell, finish, all) {
    command
      .addArgument(
        new Argument('<shell>', 'the shell to complete in; words: print the names that may come next').choices([
          ...SHELLS,
          WORDS,
        ]),
      )
      .argument('[line...]', 'for words, after --: what is typed behind berth, the last word maybe empty')
      .addHelpText(
        'after',
        examples(
          ['source <(berth completion bash)', 'this shell'],
          ['berth completion zsh > ~/.zfunc/_berth', 'every shell'],
          ['berth completion fish > ~/.config/fish/completions/berth.fish', 'every shell'],
        ),
      )
      .action(
        finish(async (name: ShellName | typeof WORDS, line: string[]) => {
          if (name === WORDS) for (const each of await candidatesFor(shell, all, line)) shell.print(each)
          else shell.print(SCRIPTS[name](await describeVerbs(shell, all)))
          return exitCodes.ok
        }),
      )
  },
}

/** The options come from the verbs themselves, so that a script cannot know less than `--help`. */
async function describeVerbs(shell: Shell, all: readonly VerbEntry[]): Promise<Described[]> {
  const described = all.map(async ({ name, summary, load }) => {
    const command = new Command(name).summary(summary)
    const loaded = await load()
    loaded.verb.define(command, shell, () => async () => undefined, all)
    return describe(command, '')
  })
  return Promise.all(described)
}

/** With the verbs of its group, where it is one. */
function describe(command: Command, group: string): Described {
  const options = command.options.map(({ long, short, description }) => ({ flag: long ?? short ?? '', about: description }))
  const path = `${group}${command.name()}`
  return {
    name: command.name(),
    path,
    summary: command.summary(),
    options: [...options, { flag: '--help', about: 'print the help of this verb' }],
    parts: command.commands.map((part) => describe(part, `${path} `)),
    isGroup: command.commands.length > 0 && command.registeredArguments.length === 0,
  }
}

const flagsOf = ({ options }: Described): string => options.map(({ flag }) => flag).join(' ')

/** Each verb, the longer ones first: what is asked for `agent token add` is not that of `agent`. */
const deepestFirst = (all: readonly Described[]): Described[] => all.flatMap((each) => [...deepestFirst(each.parts), each])

/** The words that may follow a verb: its parts, or its options and the words it takes. */
const wordsOf = (each: Described): string => {
  const parts = each.parts.map(({ name }) => name).join(' ')
  const shells = each.path === 'completion' ? ` ${SHELLS.join(' ')}` : ''
  return each.isGroup ? parts : `${parts} ${flagsOf(each)}${shells}`.trim()
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

const SCRIPTS: Record<ShellName, (verbs: Described[]) => string> = {
  bash: (all) => `# bash completion for berth
_berth() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}"
  case "$before" in
    -o|--output)
      local formats='${FORMATS.join(' ')}'
      [ "\${COMP_WORDS[1]}" != get ] || formats='${LIST_FORMATS.join(' ')}'
      COMPREPLY=($(compgen -W "$formats" -- "$word")); return ;;
    --dir|--repositories) COMPREPLY=($(compgen -d -- "$word")); return ;;
    --kubeconfig) COMPREPLY=($(compgen -f -- "$word")); return ;;
  esac
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W '${all.map(({ name }) => name).join(' ')} help' -- "$word"))
    return
  fi
  # What the cluster knows; flags where that is nothing.
  if [[ "$word" != -* ]]; then
    COMPREPLY=($(compgen -W "$("\${COMP_WORDS[0]}" completion words -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)" -- "$word"))
    [ "\${#COMPREPLY[@]}" -eq 0 ] || return
  fi
  local verb="\${COMP_WORDS[*]:1:COMP_CWORD-1} "
  case "$verb" in
${deepestFirst(all)
  .map((each) => `    '${each.path} '*) COMPREPLY=($(compgen -W '${wordsOf(each)}' -- "$word")) ;;`)
  .join('\n')}
  esac
}
complete -F _berth berth`,

  zsh: (all) => `#compdef berth
# What the cluster knows; files where that is nothing.
_berth_names() {
  local -a names
  names=(\${(f)"$("\${words[1]}" completion words -- "\${(@)words[2,CURRENT]}" 2>/dev/null)"})
  if (( \${#names} )); then compadd -a names; else _files; fi
}
_berth() {
  local -a verbs
  verbs=(
${all.map(({ name, summary }) => `    ${quoted(`${name}:${summary}`)}`).join('\n')}
  )
  if (( CURRENT == 2 )); then _describe 'verb' verbs; return; fi
  case "\${(j: :)words[2,CURRENT-1]} " in
${deepestFirst(all).map(zshCase).join('\n')}
  esac
}
if [ "$funcstack[1]" = "_berth" ]; then _berth "$@"; else compdef _berth berth; fi`,

  fish: (all) => `# fish completion for berth
complete -c berth -f
${all.map(({ name, summary }) => `complete -c berth -n __fish_use_subcommand -a ${name} -d ${quoted(summary)}`).join('\n')}
${deepestFirst(all).flatMap(fishLines).join('\n')}
complete -c berth -n '__fish_seen_subcommand_from completion' -a '${SHELLS.join(' ')}'
# What the cluster knows.
complete -c berth -n 'not __fish_use_subcommand' -a '(berth completion words -- (commandline -opc)[2..-1] "$(commandline -ct)" 2>/dev/null)'`,
}

const zshCase = ({ path, options, parts, isGroup }: Described): string => {
  const flags = options.map(({ flag, about }) => quoted(`${flag}[${about.replaceAll(/[[\]:]/g, '')}]`)).join(' ')
  const names = parts.map(({ name, summary }) => quoted(`${name}:${summary.replaceAll(':', '')}`)).join(' ')
  const describeParts = `local -a parts; parts=(${names}); _describe 'verb' parts`
  const what = isGroup
    ? describeParts
    : `${parts.length > 0 ? `${describeParts}; ` : ''}_arguments ${flags} '*:name:_berth_names'`
  return `    ${quoted(`${path} `)}*) ${what} ;;`
}

function fishLines({ path, options, parts, isGroup }: Described): string[] {
  const seen = path.split(' ').map((word) => `__fish_seen_subcommand_from ${word}`)
  const when = (extra: string[]) => quoted([...seen, ...extra].join('; and '))
  const none = isGroup ? [`not __fish_seen_subcommand_from ${parts.map(({ name }) => name).join(' ')}`] : []
  return [
    ...parts.map(({ name, summary }) => `complete -c berth -n ${when(none)} -a ${name} -d ${quoted(summary)}`),
    ...options.map(({ flag, about }) => `complete -c berth -n ${when(none)} -l ${flag.replace(/^--?/, '')} -d ${quoted(about)}`),
  ]
}

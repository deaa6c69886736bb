import { type Command, Option } from 'commander'
import type { CustomResourceDefinition } from '../../api/index.ts'
import { exitCodes } from '../exit-codes.ts'
import { definitionsIn } from '../manifests.ts'
import { examples } from '../options.ts'
import { FORMATS, type Format, render, renderData } from '../output.ts'
import type { Shell } from '../shell.ts'
import type { Finish } from '../verb.ts'

export const verb = {
  define(command: Command, shell: Shell, finish: Finish): void {
    command
      .addOption(new Option('-o, --output <format>', 'how to print').choices(FORMATS).default('yaml'))
      .addHelpText(
        'after',
        examples(['berth crds | kubectl apply --server-side -f -', 'install them'], ['berth crds -o table', 'list them']),
      )
      .action(
        finish(async ({ output }: { output: Format }) => {
          shell.print(printed(output, definitionsIn(shell.home)))
          return exitCodes.ok
        }),
      )
  },
}

function printed(output: Format, found: ReturnType<typeof definitionsIn>): string {
  const definitions = found.map(({ definition }) => definition)
  // The files as they are: their comments are worth reading.
  if (output === 'yaml') return found.map(({ text }) => text).join('\n---\n')
  if (output === 'json') return renderData('json', { apiVersion: 'v1', kind: 'List', items: definitions })
  return render('table', definitions.map(summaryOf), [
    { title: 'KIND', of: ({ kind }) => kind },
    { title: 'SHORT', of: ({ short }) => short },
    { title: 'GROUP', of: ({ group }) => group },
  ])
}

const summaryOf = ({ spec: { group, names } }: CustomResourceDefinition) => ({
  kind: names.kind,
  short: names.shortNames?.join(',') ?? '',
  group,
})

import { Option } from 'commander'
import type { CustomResourceDefinition } from '../api/index.ts'
import { definitionsIn } from './manifests.ts'
import type { OutputOptions } from './options.ts'
import { FORMATS, type OutputFormat, render, renderData } from './output.ts'
import { actionVerb } from './verb.ts'

export const verb = actionVerb({
  examples: [
    ['berth crds | kubectl apply --server-side -f -', 'install them'],
    ['berth crds -o table', 'list them'],
  ],
  options: (command) => command.addOption(new Option('-o, --output <format>', 'how to print').choices(FORMATS).default('yaml')),
  run: async (shell, { output }: OutputOptions) => shell.print(printed(output, definitionsIn(shell.home))),
})

function printed(output: OutputFormat, found: ReturnType<typeof definitionsIn>): string {
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

/** Makes the documents into a site: `npm run docs -- --help`. */
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { emptyOutput, runScript } from '../output.ts'
import { makeSite, SEARCH_SCRIPT } from './site.ts'

const HELP = `Makes the documents into a site: HTML with search, which needs no server and no network.

Usage: npm run docs -- [options]

  --output FOLDER   where the site is to be, in the place of an earlier one (default: dist-docs)
  --help            print this

Examples:
  npm run docs                       # then open dist-docs/index.html
  npm run docs -- --output /tmp/berth-docs
`

await runScript('docs', () => {
  const { values } = parseArgs({
    options: { output: { type: 'string', default: 'dist-docs' }, help: { type: 'boolean', default: false } },
  })
  if (values.help) return void process.stdout.write(HELP)
  const repository = join(import.meta.dirname, '..', '..')
  const output = resolve(values.output)
  const { version }: { version: string } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8'))
  emptyOutput(output, SEARCH_SCRIPT)
  const count = makeSite(repository, version, output)
  console.log(`${count} pages: open ${join(values.output, 'index.html')}`)
})

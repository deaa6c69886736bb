/** Makes the documents into a site: `npm run docs -- --help`. */
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { makeSite, SEARCH_SCRIPT } from './site.ts'

const HELP = `Makes the documents into a site: HTML with search, which needs no server and no network.

Usage: npm run docs -- [options]

  --output FOLDER   where the site is to be, in the place of an earlier one (default: dist-docs)
  --help            print this

Examples:
  npm run docs                       # then open dist-docs/index.html
  npm run docs -- --output /tmp/berth-docs
`

const { values } = parseArgs({
  options: { output: { type: 'string', default: 'dist-docs' }, help: { type: 'boolean', default: false } },
})
if (values.help) process.stdout.write(HELP)
else {
  const repository = join(import.meta.dirname, '..', '..')
  const output = resolve(values.output)
  if (existsSync(output) && readdirSync(output).length > 0 && !existsSync(join(output, SEARCH_SCRIPT))) {
    console.error(`${output} holds something else than a site: name an empty folder, or one that is not there, with --output`)
    process.exit(2)
  }
  const { version }: { version: string } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8'))
  rmSync(output, { recursive: true, force: true })
  const count = makeSite(repository, version, output)
  console.log(`${count} pages: open ${join(values.output, 'index.html')}`)
}

import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { equal, ok } from 'uvu/assert'
import { configurationPage, PAGE, PROGRAMS } from '../../hack/update-configuration.ts'
import { describe } from '../support/suite.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const page = readFileSync(PAGE, 'utf8')

/** Variables that are set for a program, with their values where these are written out. */
function variablesFor(program: string): [variable: string, value: string | undefined][] {
  const files =
    program === 'agentw' ? ['src/operator/workspace/desired/tunnel.ts'] : globSync(`deploy/${program}/**/*.yaml`, { cwd: ROOT })
  const texts = files.map((file) => readFileSync(join(ROOT, file), 'utf8'))
  const found = texts.flatMap((text) => [...text.matchAll(/name: '?((?:BERTH|POD)_\w+)(?:, value: "?([\w./:,-]+)"? \})?/g)])
  return found.map(([, variable = '', value]) => [variable, value])
}

describe('the page about the configuration', (it) => {
  it('says what the programs read', () => equal(page, configurationPage()))

  it('links to what is there', () => {
    const links = [...page.matchAll(/\]\(([^)#]+)\)/g)].map(([, to = '']) => to)
    ok(links.length > 5)
    for (const to of links) ok(existsSync(join(ROOT, 'docs', to)), to)
  })

  for (const [program, settings] of Object.entries(PROGRAMS)) {
    const all = Object.values(settings)
    it(`has no flag and no variable of ${program} twice`, () => {
      const names = all.flatMap(({ flag, variable }) => [flag.replace(/ .*/, ''), ...(variable ? [variable] : [])])
      equal(names, [...new Set(names)])
    })

    it(`knows every variable that is set for ${program}, and ${program} takes its value`, () => {
      const variables = variablesFor(program)
      ok(variables.length > 2)
      for (const [variable, value] of variables) {
        const setting = all.find((each) => each.variable === variable)
        ok(setting, variable)
        if (value !== undefined) setting?.read(value)
      }
    })
  }
})

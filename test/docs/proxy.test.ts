import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { equal, is, ok } from 'uvu/assert'
import { readValues } from '../../src/cli/install/values.ts'
import { parseConfig } from '../../src/proxy/index.ts'
import { describe } from '../support/suite.ts'
import { blocksOf } from './parts.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const text = readFileSync(join(ROOT, 'docs', 'proxy.md'), 'utf8')
const [block = ''] = blocksOf(text, 'yaml')
const deployment = readFileSync(join(ROOT, 'deploy/proxy/program/deployment.yaml'), 'utf8')

describe('the page about the proxy', (it) => {
  it('shows settings that the Deployment reads and the program takes', async () => {
    const taken = await readValues(ROOT, { name: 'proxy.md', text: block }, {})
    ok('values' in taken, JSON.stringify(taken))
    const data: Record<string, unknown> = { ...taken.values.proxy }
    const read = [...deployment.matchAll(/name: (BERTH_\w+)\n +valueFrom: \{ configMapKeyRef: \{ name: berth-proxy, key: (\w+)/g)]
    const keys = read.map(([, , key = '']) => key)
    equal(
      Object.keys(data).filter((key) => !keys.includes(key)),
      [],
    )
    const variables = read.map(([, variable = '', key = '']) => [variable, data[key]])
    const config = parseConfig({}, Object.fromEntries(variables))
    equal(
      [config.host, config.identity.usernameClaim, config.oidc.clientId],
      ['sign-in.workspaces.example.com', 'email', 'berth'],
    )
  })

  it('links to what is there', () => {
    const links = [...text.matchAll(/\]\(([^)#]+)\)/g)].map(([, to = '']) => to)
    ok(links.length > 2)
    for (const to of links) ok(existsSync(join(ROOT, 'docs', to)), to)
  })

  it('is told of every visibility that there is', () => {
    const crd = readFileSync(join(ROOT, 'crds/berth.dev_workspaces.yaml'), 'utf8')
    const [, words = ''] = /enum: \[(owner, members[^\]]+)\]/.exec(crd) ?? []
    is(words.split(', ').filter((word) => text.includes(`| \`${word}\` |`)).length, 4)
  })
})

import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import * as assert from 'uvu/assert'
import { acquireTools } from '../../src/adapters/control-plane/index.ts'
import { verbs } from '../../src/cli/verbs.ts'
import { testCluster } from '../support/control-plane.ts'
import { describe } from '../support/suite.ts'
import { ROOT } from './berth.ts'

const text = readFileSync(join(ROOT, 'README.md'), 'utf8')

/** The lines of the blocks that are marked `sh run`. */
const commands = [...text.matchAll(/^```sh run\n([\s\S]*?)^```/gm)].flatMap(([, block = '']) => block.trim().split('\n'))

describe('the README', (it) => {
  const cluster = testCluster()
  it.after(() => cluster.close())

  it('has fewer than 150 lines', () => {
    assert.ok(text.split('\n').length < 150)
  })

  it('links only to what is there', () => {
    const links = [...text.matchAll(/\]\(([^)#]+)\)/g)].map(([, to = '']) => to).filter((to) => !to.includes('://'))
    assert.ok(links.length > 20)
    for (const to of links) assert.ok(existsSync(join(ROOT, to)), to)
  })

  it('names only verbs and scripts that exist', () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
    const names: string[] = verbs.map(({ name }) => name)
    for (const [, verb = ''] of text.matchAll(/npm run -s berth -- (\S+)/g)) assert.ok(names.includes(verb), verb)
    for (const [, script = ''] of text.matchAll(/npm run (?!-s)(\S+)/g)) assert.ok(scripts[script], script)
  })

  it('shows five commands that work', async () => {
    assert.is(commands.length, 5)
    const tools = await acquireTools({ env: process.env, wanted: ['kubectl'] })
    const PATH = [dirname(tools.paths.kubectl ?? ''), process.env.PATH].join(':')
    const env = { ...process.env, PATH, KUBECONFIG: cluster.kubeconfig }
    for (const command of commands) {
      const { stdout } = await promisify(execFile)('sh', ['-c', command], { cwd: ROOT, env })
      assert.ok(stdout.length > 0, command)
    }
  })
})

import { equal, is, ok } from 'uvu/assert'
import { checkDevfile, leftToKas } from '../../../src/engines/devfiles/index.ts'
import { effort } from '../../support/effort.ts'
import { describe } from '../../support/suite.ts'

const overrides = (spec: string) => `schemaVersion: 2.2.0
components:
  - name: tools
    container: { image: i }
    attributes: { pod-overrides: { spec: ${spec} } }
`

const many = (count: number) =>
  `schemaVersion: 2.2.0\ncomponents:\n${Array.from({ length: count }, (_, n) => `  - { name: c${n}, container: { image: i } }\n`).join('')}`

describe('the check of a devfile', (it) => {
  it('lets a workspace have a hundred containers', async () => {
    const options = { name: 'd', profile: 'full', settings: {}, hasProject: true, textAt: leftToKas({}) } as const
    const told = async (count: number) => (await checkDevfile(many(count), options)).problems.map(({ message }) => message)
    equal([await told(100), await told(101)], [[], ['101 containers are more than 100']])
  })

  it('takes little time for one with a mistake in each of ten thousand places, and counts most of them', async () => {
    const options = { name: 'd', profile: 'full', settings: {}, hasProject: true, textAt: leftToKas({}) } as const
    const spent = effort()
    const { problems } = await checkDevfile(overrides(`{ affinity: [${'{$a: 1},'.repeat(10_000)}] }`), options)
    // Of the CPU, in milliseconds, most of them for the YAML: with a walk through all for each it were 30,000.
    const took = spent()
    ok(took < 5000, `took ${Math.round(took)} ms`)
    is(problems.length, 1001)
    is(problems.find(({ rule }) => rule === 'size')?.message, 'there are 9000 more')
    is(problems[0]?.path, 'components[0].attributes.pod-overrides.spec.affinity[0].$a')
  })
})

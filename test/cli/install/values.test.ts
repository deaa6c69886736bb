import * as assert from 'uvu/assert'
import { readValues } from '../../../src/cli/install/values.ts'
import { failureOf } from '../../support/refusal.ts'
import { describe } from '../../support/suite.ts'
import { berth, ROOT } from '../berth.ts'

const read = (text: string, flags = {}) => readValues(ROOT, { name: 'values.yaml', text }, flags)
const valuesIn = async (text: string, flags = {}) => {
  const outcome = await read(text, flags)
  return 'values' in outcome ? outcome.values : outcome.mistakes
}
const mistakesIn = async (text: string, flags = {}) => {
  const outcome = await read(text, flags)
  return 'mistakes' in outcome ? outcome.mistakes : []
}

describe('the values of an installation', (it) => {
  it('are those of the file, and flags win', async () => {
    assert.equal(await valuesIn('image: a/b:1\nkas: {names: [kas.example.com]}', { image: 'a/b:2' }), {
      image: 'a/b:2',
      kas: { names: ['kas.example.com'] },
    })
    assert.equal(await valuesIn('# nothing yet\n'), {})
    assert.equal(await readValues(ROOT, undefined, { namespace: 'berth' }), { values: { namespace: 'berth' } })
  })

  it('that are wrong are all told, each with its line, its value and what may stand there', async () => {
    const wrong = `image: berth
kas:
  names:
    - kas.example.com
    - https://kas.example.com
  replicas: 3
policies: old
programs:
  kas: { replicas: three }
`
    assert.equal(await mistakesIn(wrong), [
      'values.yaml:1: image is "berth". The image of Berth with its tag or digest, such as registry.example.com/berth:0.1.0.',
      'values.yaml:5: kas.names[1] is "https://kas.example.com". A host name or an address: no URL, and no list in a text.',
      'values.yaml:6: kas.replicas is not known; known there: names, certificateIssuer, service, tunnels, redis',
      'values.yaml:7: policies is "old"; use one of current, legacy',
      'values.yaml:9: programs.kas.replicas is "three", which must be integer',
    ])
    assert.equal(await mistakesIn('proxy: { url: https://sign-in.example.com, oidcClientId: berth }'), [
      'values.yaml:1: proxy.oidcIssuer is missing',
    ])
    const own = 'url: https://sign-in.example.com, oidcIssuer: https://id.example.com, oidcClientId: berth'
    assert.match(
      (await mistakesIn(`proxy: { ${own}, certificateIssuer: { name: web } }`))[0] ?? '',
      /must have property certificateNames/,
    )
    for (const name of ['a..b', '1:2', `${'a'.repeat(64)}.example.com`, 'A.example.com'])
      assert.equal(await mistakesIn(`kas: { names: ['${name}', '2001:db8::7', '*.example.com'] }`), [
        `values.yaml:1: kas.names[0] is "${name}". A host name or an address: no URL, and no list in a text.`,
      ])
    assert.equal(await mistakesIn('[]'), ['values.yaml:1: the file is [], which must be object'])
  })

  it('that are long are not shown whole', async () => {
    const [told = ''] = await mistakesIn(`namespace: ${'x'.repeat(5000)}`)
    assert.ok(told.startsWith('values.yaml:1: namespace is "xxx') && told.length < 300, told)
  })

  it('that are wrong are told one a line', async () => {
    const { code, stderr } = await berth(['install', '--values', '-'], { input: 'image: berth\npolicies: old\n' })
    assert.is(code, 7)
    assert.match(stderr, /^-:1: image is "berth"\..*\n-:2: policies is "old"; .*\nberth: .* \(2 wrong\)/)
  })

  it('that may be secrets are not printed, and namespaces of others are refused', async () => {
    const [name, value] = await mistakesIn('programs:\n  kas:\n    env:\n      "A B": x\n      TOKEN: 17\n')
    assert.match(name ?? '', /^values.yaml:4: programs.kas.env.A B is no name that can stand there. /)
    assert.match(value ?? '', /^values.yaml:5: programs.kas.env.TOKEN is \*\*\*, /)
    for (const taken of ['kube-system', 'default', 'berth-credentials'])
      assert.match((await mistakesIn(`namespace: ${taken}`))[0] ?? '', `values.yaml:1: namespace is "${taken}". `)
  })

  it('that are wrong on the command line are told as what they are', async () => {
    assert.match((await mistakesIn('', { namespace: 'Berth' }))[0] ?? '', /^the command line: namespace is "Berth"/)
  })

  it('that are no YAML are told with line and column', async () => {
    assert.match((await failureOf(async () => read('image: ['))).message, /^values.yaml:1:\d+: /)
  })

  it('that a program would overlook, or end because of, are told with what it takes', async () => {
    const env =
      'BERTH_SESION_GRACE: "60", BERTH_SESSION_GRACE: soon, HTTPS_PROXY: http://proxy.example.com, BERTH_LOG_LEVEL: debug'
    const [unknown, wrong, ...more] = await mistakesIn(`programs:\n  kas:\n    env: { ${env} }`)
    assert.match(unknown ?? '', /^values.yaml:3: programs.kas.env.BERTH_SESION_GRACE is no setting of kas; /)
    assert.match(wrong ?? '', /^values.yaml:3: programs.kas.env.BERTH_SESSION_GRACE is \*\*\*\. \S/)
    assert.not.match(wrong ?? '', 'soon')
    assert.equal(more, [])
  })
})

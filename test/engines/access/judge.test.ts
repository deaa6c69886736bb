import { equal, is } from 'uvu/assert'
import type { WorkspaceSpec } from '../../../src/api/index.ts'
import { accessRulesOf, judgeAccess, type Person } from '../../../src/engines/access/index.ts'
import { describe } from '../../support/suite.ts'
import { published } from './neighbourhood.ts'

const NOW = Date.parse('2030-01-01T00:00:00Z')
const BEFORE = '2029-12-31T23:59:59Z'
const AFTER = '2030-01-01T00:00:01Z'

const person = (user: string, ...groups: string[]): Person => ({ user, groups })
const ada = person('ada@example.com')
const grace = person('grace@example.com', 'compilers')

type Shares = NonNullable<WorkspaceSpec['shares']>
type Visibility = 'owner' | 'members' | 'authenticated' | 'public'

interface Row {
  why: string
  who?: Person
  links?: string[]
  hasRole?: boolean
  shares?: Shares
  visibility?: Visibility
  most?: Visibility
  port?: number
  spec?: WorkspaceSpec
  says: string
}

const LINK = 'a1'.repeat(32)
const linked: Shares = [{ name: 'link', linkDigest: LINK, ports: ['app'], expiresAt: AFTER }]
const linkedElsewhere: Shares = [{ name: 'link', linkDigest: LINK, ports: ['other'], expiresAt: AFTER }]
const shared: Shares = [{ name: 'pair', user: 'grace@example.com', ports: ['app'] }]

const ROWS: Row[] = [
  { why: 'the owner is at home', who: ada, says: 'owner' },
  { why: 'nobody has signed in', says: 'SignInNeeded' },
  { why: 'an empty name is nobody', who: person(''), says: 'SignInNeeded' },
  { why: 'an empty name does not equal a missing owner', who: person(''), spec: { owner: '' }, says: 'SignInNeeded' },
  { why: 'without an owner it is nobody’s', who: ada, spec: { owner: '' }, says: 'NotShared' },
  { why: 'a stranger', who: grace, says: 'NotShared' },
  { why: 'a name that begins like the owner’s', who: person('ada@example.com.evil'), says: 'NotShared' },
  { why: 'a name in other letters', who: person('Ada@example.com'), says: 'NotShared' },
  { why: 'a group that is called like the owner', who: person('x', 'ada@example.com'), says: 'NotShared' },
  { why: 'a share names her and the port', who: grace, shares: shared, says: 'share' },
  {
    why: 'a share for a group she is in',
    who: grace,
    shares: [{ name: 'g', group: 'compilers', ports: ['app'] }],
    says: 'share',
  },
  { why: 'a share for another group', who: grace, shares: [{ name: 'g', group: 'linkers', ports: ['app'] }], says: 'NotShared' },
  {
    why: 'a user share is no group share',
    who: grace,
    shares: [{ name: 'u', user: 'compilers', ports: ['app'] }],
    says: 'NotShared',
  },
  { why: 'a share of nobody', who: person('x', ''), shares: [{ name: 'n', group: '', ports: ['app'] }], says: 'NotShared' },
  { why: 'a share that names no port', who: grace, shares: [{ name: 'n', user: 'grace@example.com' }], says: 'NotShared' },
  {
    why: 'a share of another port',
    who: grace,
    shares: [{ name: 'o', user: 'grace@example.com', ports: ['db'] }],
    says: 'NotShared',
  },
  { why: 'a share that lasts', who: grace, shares: [{ ...shared[0], name: 'l', expiresAt: AFTER }], says: 'share' },
  { why: 'a share that has ended', who: grace, shares: [{ ...shared[0], name: 'l', expiresAt: BEFORE }], says: 'ShareExpired' },
  {
    why: 'a share whose end cannot be read',
    who: grace,
    shares: [{ ...shared[0], name: 'l', expiresAt: 'soon' }],
    says: 'ShareExpired',
  },
  {
    why: 'of two shares the longer one',
    who: grace,
    shares: [
      { ...shared[0], name: 'a', expiresAt: BEFORE },
      { ...shared[0], name: 'b', expiresAt: AFTER },
    ],
    says: 'share',
  },
  { why: 'a share does not sign anybody in', shares: shared, says: 'SignInNeeded' },
  {
    why: 'members: whoever any share names',
    who: grace,
    visibility: 'members',
    shares: [{ name: 'n', user: 'grace@example.com' }],
    says: 'member',
  },
  {
    why: 'members: a share that has ended makes none',
    who: grace,
    visibility: 'members',
    shares: [{ ...shared[0], name: 'l', expiresAt: BEFORE }],
    says: 'ShareExpired',
  },
  { why: 'members: a stranger', who: grace, visibility: 'members', says: 'NotShared' },
  { why: 'authenticated: whoever is signed in', who: grace, visibility: 'authenticated', says: 'authenticated' },
  { why: 'authenticated: nobody else', visibility: 'authenticated', says: 'SignInNeeded' },
  { why: 'public, where the class allows it', visibility: 'public', most: 'public', says: 'public' },
  { why: 'public is authenticated where the class says nothing', visibility: 'public', says: 'SignInNeeded' },
  { why: 'the class allows members at most', who: grace, visibility: 'authenticated', most: 'members', says: 'NotShared' },
  {
    why: 'the class allows the owner only, so shares do not count',
    who: grace,
    shares: shared,
    most: 'owner',
    says: 'NotShared',
  },
  { why: 'the class allows the owner only, and it is she', who: ada, most: 'owner', says: 'owner' },
  { why: 'a port that is not declared, for the owner too', who: ada, port: 8080, says: 'PortNotDeclared' },
  { why: 'a port that is only for the pod', who: ada, port: 5432, says: 'PortNotDeclared' },
  { why: 'a port that is no number', who: ada, port: Number.NaN, says: 'PortNotDeclared' },
  {
    why: 'the editor is never wider than members',
    who: grace,
    port: 60_001,
    visibility: 'public',
    most: 'public',
    says: 'NotShared',
  },
  { why: 'whoever has the link', who: grace, links: [LINK], shares: linked, says: 'link' },
  { why: 'a link for nobody who has signed in', links: [LINK], shares: linked, says: 'SignInNeeded' },
  { why: 'a link where the class allows public', links: [LINK], shares: linked, most: 'public', says: 'link' },
  { why: 'a link that nobody has shown', who: grace, shares: linked, says: 'NotShared' },
  { why: 'another link', who: grace, links: ['0'.repeat(64)], shares: linked, says: 'NotShared' },
  {
    why: 'a link that is empty',
    who: grace,
    links: [''],
    shares: [{ ...linked[0], name: 'e', linkDigest: '' }],
    says: 'NotShared',
  },
  {
    why: 'a link of another port',
    who: grace,
    links: [LINK],
    shares: [{ ...linked[0], name: 'o', ports: ['db'] }],
    says: 'NotShared',
  },
  {
    why: 'a link that has ended',
    who: grace,
    links: [LINK],
    shares: [{ ...linked[0], name: 'l', expiresAt: BEFORE }],
    says: 'ShareExpired',
  },
  {
    why: 'a link that does not say when it ends',
    who: grace,
    links: [LINK],
    shares: [{ name: 'l', linkDigest: LINK, ports: ['app'] }],
    says: 'ShareExpired',
  },
  {
    why: 'a link where the class lets in members only',
    who: grace,
    links: [LINK],
    shares: linked,
    most: 'members',
    says: 'NotShared',
  },
  {
    why: 'a link makes nobody a member',
    who: grace,
    links: [LINK],
    shares: linkedElsewhere,
    visibility: 'members',
    says: 'NotShared',
  },
  {
    why: 'a link into the shell',
    who: grace,
    links: [LINK],
    port: 60_001,
    shares: [{ ...linked[0], name: 'l', ports: ['editor-server'] }],
    most: 'public',
    says: 'NotShared',
  },
  { why: 'a digest is no link of its own', who: person(LINK, LINK), shares: linked, says: 'NotShared' },
  { why: 'the roles of the cluster let her', who: grace, hasRole: true, says: 'role' },
  { why: 'roles sign nobody in', hasRole: true, says: 'SignInNeeded' },
  { why: 'roles do not go beyond the class', who: grace, hasRole: true, most: 'owner', says: 'NotShared' },
  { why: 'roles open no port that is not declared', who: grace, hasRole: true, port: 8080, says: 'PortNotDeclared' },
  { why: 'roles open nothing that ends', who: grace, hasRole: true, spec: { desiredState: 'Terminated' }, says: 'Ending' },
  { why: 'the end is the end, for the owner too', who: ada, spec: { desiredState: 'Terminated' }, says: 'Ending' },
  {
    why: 'the end is the end, where it was public',
    visibility: 'public',
    most: 'public',
    spec: { desiredState: 'Terminated' },
    says: 'Ending',
  },
]

const PORTS = [
  { name: 'app', port: 3000 },
  { name: 'db', port: 5432, isClosed: true },
  { name: 'editor-server', port: 60_001 },
]

describe('the decision about access', (it) => {
  for (const { why, who, links, hasRole, shares, visibility, most, port = 3000, spec, says } of ROWS)
    it(`${says}: ${why}`, () => {
      const ports = visibility && { ports: [{ name: 'own', port, visibility }] }
      const workspace = published('web', {
        spec: { ...ports, ...(shares && { shares }), ...spec },
        ports: PORTS,
        ...(most && { maxVisibility: most }),
      })
      const judgement = judgeAccess({
        ...{ rules: accessRulesOf(workspace), port, person: who, now: NOW },
        ...(links && { links }),
        ...(hasRole && { hasRole }),
      })
      is(judgement.may ? judgement.as : judgement.why, says)
    })

  it('says when it ends by itself', () => {
    const shares = [{ name: 'a', user: 'grace@example.com', ports: ['app'], expiresAt: AFTER }]
    const rules = accessRulesOf(published('web', { spec: { shares } }))
    const later = Date.parse(AFTER)
    equal(judgeAccess({ rules, port: 3000, person: grace, now: NOW }), { may: true, as: 'share', until: later })
    equal(judgeAccess({ rules, port: 3000, person: grace, now: later }), { may: false, why: 'ShareExpired' })
  })

  it('takes the narrower of two wishes for one number', () => {
    const ports = [
      { name: 'a', port: 3000, visibility: 'authenticated' as const },
      { name: 'b', port: 3000, visibility: 'owner' as const },
    ]
    const rules = accessRulesOf(published('web', { spec: { ports } }))
    equal(judgeAccess({ rules, port: 3000, person: grace, now: NOW }), { may: false, why: 'NotShared' })
  })

  it('closes everything where browsers are not let in', () => {
    const workspace = published('web')
    const rules = accessRulesOf({
      ...workspace,
      status: { ...workspace.status, class: { settings: { proxy: { httpEnabled: false } } } },
    })
    equal(judgeAccess({ rules, port: 3000, person: ada, now: NOW }), { may: false, why: 'PortNotDeclared' })
    equal(judgeAccess({ rules, port: 'ssh', person: ada, now: NOW }).may, true)
  })
})

describe('the decision about the shell over SSH', (it) => {
  const EDITOR = PORTS.filter(({ name }) => name === 'editor-server')
  const OTHERS = PORTS.filter(({ name }) => name !== 'editor-server')
  const sharedBy = (port: string): WorkspaceSpec => ({ shares: [{ name: 'a', user: 'grace@example.com', ports: [port] }] })
  const link = { name: 'l', linkDigest: 'f'.repeat(64), ports: ['editor-server'], expiresAt: AFTER }
  const wide = { ports: [{ name: 'editor-server', port: 60_001, visibility: 'public' as const }] }
  const CASES: { why: string; spec?: WorkspaceSpec; ports?: typeof PORTS; who?: Person; hasRole?: boolean; says: string }[] = [
    { why: 'the owner, with an editor', who: ada, says: 'owner' },
    { why: 'the owner, without one', ports: OTHERS, who: ada, says: 'owner' },
    { why: 'nobody who has not said who they are', says: 'SignInNeeded' },
    { why: 'whom the editor is shared with', spec: sharedBy('editor-server'), who: grace, says: 'share' },
    { why: 'not whom another port is shared with', spec: sharedBy('app'), who: grace, says: 'NotShared' },
    {
      why: 'not by a share of an editor that there is none of',
      spec: sharedBy('editor-server'),
      ports: OTHERS,
      who: grace,
      says: 'NotShared',
    },
    { why: 'not everybody, however wide the editor’s port is', spec: wide, ports: EDITOR, who: grace, says: 'NotShared' },
    { why: 'not by a link', spec: { shares: [link] }, who: grace, says: 'NotShared' },
    { why: 'whom a role lets in', who: grace, hasRole: true, says: 'role' },
    { why: 'nobody by a role, without an editor', ports: OTHERS, who: grace, hasRole: true, says: 'NotShared' },
    { why: 'nobody, when it ends', spec: { desiredState: 'Terminated' }, who: ada, says: 'Ending' },
  ]
  for (const { why, spec = {}, ports = PORTS, who, hasRole = false, says } of CASES)
    it(`${says}: ${why}`, () => {
      const rules = accessRulesOf(published('web', { spec, ports, maxVisibility: 'public' }))
      const judgement = judgeAccess({ rules, port: 'ssh', person: who, links: ['f'.repeat(64)], hasRole, now: NOW })
      is(judgement.may ? judgement.as : judgement.why, says)
    })

  it('lets nobody in where the class says so', () => {
    const workspace = published('web')
    const status = { ...workspace.status, class: { settings: { proxy: { sshEnabled: false } } } }
    const rules = accessRulesOf({ ...workspace, status })
    equal(judgeAccess({ rules, port: 'ssh', person: ada, now: NOW }), { may: false, why: 'PortNotDeclared' })
    equal(judgeAccess({ rules, port: 3000, person: ada, now: NOW }).may, true)
  })
})

const N = 50
/** Told from the two numbers, by no code of the engine. */
const isGranted = (guest: number, host: number): boolean => guest === host || (guest * 7 + host * 3) % 11 === 0

describe('the access matrix', (it) => {
  it('lets exactly the granted in, of all 2,500 pairs', () => {
    const people = Array.from({ length: N }, (_, n) => person(`person-${n}`, `team-${n}`))
    const wrong: string[] = []
    let granted = 0
    for (let host = 0; host < N; host++) {
      const guests = people.flatMap(({ user }, guest) => (guest !== host && isGranted(guest, host) ? [{ user, guest }] : []))
      // Half of them by name, half by their group.
      const shares = guests.map(({ user, guest }) =>
        guest % 2 ? { name: `s${guest}`, user, ports: ['app'] } : { name: `s${guest}`, group: `team-${guest}`, ports: ['app'] },
      )
      const rules = accessRulesOf(published(`w${host}`, { spec: { owner: `person-${host}`, shares } }))
      for (const [guest, who] of people.entries()) {
        const { may } = judgeAccess({ rules, port: 3000, person: who, now: NOW })
        granted += Number(may)
        if (may !== isGranted(guest, host)) wrong.push(`${guest} at ${host}`)
      }
    }
    equal(wrong, [])
    is(granted > N && granted < 500, true)
  })
})

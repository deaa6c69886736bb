import { existsSync, globSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { blocksIn, partsOf } from '../docs/parts.ts'
import { lacksNode } from '../support/node.ts'
import { describe } from '../support/suite.ts'
import { eventually } from '../support/verbs.ts'
import { AGENT_CONFIGURATION, application, arrivesIn } from './pods/application.ts'
import { REPOSITORY, renameImages } from './pods/images.ts'
import { startOutside } from './pods/outside.ts'
import { type Reader, startReader } from './pods/reader.ts'
import { makeCertificate, PATIENT, type Site, serveGit, startSite } from './pods/site.ts'

const PAGES = ['*.md', '{docs,examples}/**/*.md']

/** Where other files run what stands in a part. */
const ELSEWHERE: Record<string, string> = {
  'README.md#try-it': 'test/cli/readme.test.ts',
  'README.md#work-on-it': '.ci/run',
  'CONTRIBUTING.md#set-up': '.ci/run',
  'CONTRIBUTING.md#a-change': '.ci/run',
  'CONTRIBUTING.md#a-release': 'test/e2e/release.test.ts',
  'docs/backup.md#save': 'test/e2e/restore.test.ts',
  'docs/backup.md#restore': 'test/e2e/restore.test.ts',
  'docs/gitops.md#from-argo-cd-or-flux': 'test/cli/import/hand-over.test.ts',
  'docs/gitops.md#encrypted-secrets': 'test/operator/gitops-deployment/decryption.test.ts',
  'docs/installation.md#the-command': 'test/cli/package.test.ts',
  'docs/installation.md#the-image': 'test/e2e/image.test.ts',
  'docs/installation.md#redis-for-several-kas': 'test/deploy/replicated-kas.test.ts',
  'docs/proxy.md#certificates-for-ssh': 'test/proxy/ssh-certificates.test.ts',
  'docs/proxy.md#ssh': 'test/e2e/ssh.test.ts',
  'docs/proxy-ingress.md#behind-an-ingress-that-you-have': 'test/proxy/consultation.test.ts',
  'docs/spec/v1/gitproject.md#signed-artifacts': 'test/adapters/signatures/artifact.test.ts',
  'examples/cluster-provisioner/README.md#a-provisioner-of-your-own':
    'test/examples/cluster-provisioner/cluster-provisioner.test.ts',
}

/** Where the documents have a Git server, and where it is here. */
const SERVERS: [string, string] = ['https://git.example.com/team-a/', 'https://git.git.svc/']

const project = (name: string) => ({
  apiVersion: 'berth.dev/v1alpha1',
  kind: 'GitProject',
  metadata: { name },
  spec: {
    url: `${SERVERS[1]}${name}.git`,
    path: `team-a/${name}`,
    credentialsSecretRef: { name: 'shop-git' },
    pollInterval: '1s',
  },
})

/** What `targetRevision: main` of the documents has below `overlays/production`. */
const shop = (word: string, more: Record<string, string> = {}) => {
  const files = Object.entries({ ...application(word), ...more })
  return Object.fromEntries(files.map(([path, text]) => [path.replace('production/', 'overlays/production/'), text]))
}

const GUARDED = `
apiVersion: v1
kind: ConfigMap
metadata: { name: guarded, annotations: { gitops.berth.dev/prune: confirm } }
`

/** Of those whom the documents let people bring a certificate for. */
const CERTIFIED = ['*.workspaces.example.com', 'kas.berth-system.svc']

describe(
  'what the documents say, typed as it stands there',
  (it) => {
    let site: Site
    let reader: Reader
    const follow: Reader['follow'] = (id, how) => reader.follow(id, how)
    const apply = (text: string) => reader.apply(text, 'team-a')
    const until = (condition: string, ...what: string[]) => site.untilIs(condition, '-n', 'team-a', ...what)
    const isReady = (...what: string[]) => until('condition=Ready', ...what)
    const isBound = (claim: string) => until('jsonpath={.status.phase}=Bound', `deploymenttargetclaim/${claim}`)
    const isRunning = (name: string) => until('jsonpath={.status.actualState}=Running', `workspace/${name}`)
    /** What was deployed says this word. */
    const says = (word: string) => site.spaceOf('development').then((space) => arrivesIn(site.cluster(), space, word))
    const isGone = (...what: string[]) => site.kubectl('wait', '--for=delete', `--timeout=${PATIENT.within}ms`, ...what)
    const installed = () => site.untilIs('condition=Available', '-n', 'berth-system', 'deployments', '--all')

    it.before(async () => {
      site = await startSite({ namespace: 'berth-system' })
      const { tag } = site
      const images = await renameImages(join(site.folder, 'made', 'images.tar'), join(site.folder, 'renamed'), {
        [`localhost/berth:${tag}`]: [`registry.example.com/berth:${tag}`],
        [`localhost/berth-workspace:${tag}`]: [
          `registry.example.com/berth-workspace:${tag}`,
          'quay.io/devfile/universal-developer-image:ubi8-latest',
        ],
      })
      await site.cluster().importImages(images)
      await site.applyFile('monitoring-kinds.yaml')
      reader = await startReader(site)
      for (const [name, text] of Object.entries(await makeCertificate(CERTIFIED))) await reader.write(name, text)
    })
    it.after(() => site?.remove())

    it('installs Berth', async () => {
      await follow('README.md#install-it-on-a-cluster', { folder: REPOSITORY })
      await serveGit(site)
      // What docs/installation.md says of values that differ from the usual.
      await site.install({
        image: `registry.example.com/berth:${site.tag}`,
        workspaceImage: `registry.example.com/berth-workspace:${site.tag}`,
        monitoring: {},
      })
      await follow('docs/troubleshooting.md#troubleshooting')
      await follow('docs/troubleshooting.md#nothing-happens-at-all')
      await follow('docs/monitoring.md#switch-them-on')
      assert.match(await readFile(join(reader.folder, 'berth-overview.json'), 'utf8'), '"title": "Berth')
      await follow('docs/traces.md#switch-them-on')
      await installed()
      await follow('docs/security.md#a-namespace-lets-berth-in')
    })

    it('claims places to run, and offers them', async () => {
      const [claim = ''] = reader.manifests('docs/targets.md#claim-a-namespace')
      await reader.write('claim.yaml', claim)
      await follow('docs/targets.md#claim-a-namespace')
      await isBound('development')
      await follow('docs/troubleshooting.md#a-claim-stays-pending')
      await follow('docs/troubleshooting.md#an-object-does-not-go-away')
      for (const text of reader.manifests('docs/targets.md#deploy-to-it')) await apply(text)
      await follow('docs/targets.md#use-the-place-yourself')
      await follow('docs/backup.md#what-is-lost')

      const place = await readFile(join(reader.folder, 'place.kubeconfig'), 'utf8')
      await reader.write('prod.kubeconfig', place.replace(/server: \S+/, 'server: https://api.prod.example.com:6443'))
      await follow('docs/targets.md#bring-a-cluster-of-your-own')
      for (const text of reader.manifests('docs/targets.md#bring-a-cluster-of-your-own')) await apply(text)
      await until('condition=CredentialsValid', 'deploymenttarget/prod-cluster')
      await isBound('production')
      await follow('docs/troubleshooting.md#a-target-is-not-available')
      await site.kubectl('delete', '-n', 'team-a', 'deploymenttargetclaim/production')
      await until('jsonpath={.status.phase}=Released', 'deploymenttarget/prod-cluster')
      await follow('docs/targets.md#give-a-place-back', { blocks: [1] })
      await until('jsonpath={.status.phase}=Available', 'deploymenttarget/prod-cluster')
      await follow('docs/targets.md#get-both-environments-made-in-advance')
      await eventually(() => isReady('environment/staging'), PATIENT)
      assert.match(await follow('docs/spec/v1/deploymenttargetclass.md#who-may-use-it'), /^yes$/m)
    })

    it('follows Git', async () => {
      const from = 'docs/gitops.md#from-a-repository-to-an-environment'
      for (const name of ['id_ed25519', 'known_hosts']) await reader.write(name, 'a key')
      await follow(from)
      await site.kubectl('delete', 'secret', '-n', 'team-a', 'shop-git')
      const { 'ca.crt': ca } = site.tls
      await site.secret('team-a', 'shop-git', { username: 'team', password: 'secret', 'ca.crt': ca })
      await site.push('shop', shop('first'))
      for (const text of reader.manifests(from))
        await apply(text.replaceAll(...SERVERS).replace('claimName: production', 'claimName: development'))
      await isReady('gitopsdeployment/shop')
      await follow('docs/conditions.md#conditions-reasons-and-events')
      await follow('docs/troubleshooting.md#an-environment-is-not-ready')
      await follow('docs/troubleshooting.md#a-sync-is-waiting-or-not-ready')
      await site.push('shop', shop('second'))
      await follow('docs/troubleshooting.md#a-commit-does-not-arrive')
      await site.inside('git', 'git', 'git -C /repositories/shop.git tag v2 main')
      await says('second')
      await isReady('gitopsdeployment/shop')
      await follow('README.md#push-to-git-and-the-cluster-follows', { blocks: [0], folder: REPOSITORY })
      await says('first')
      await follow('docs/gitops.md#the-verbs')
      await reader.type('berth resume shop -n team-a --automated')
      const resources = (...more: string[]) => `resources: [web.yaml, said.yaml${more.map((name) => `, ${name}`).join('')}]`
      const list = 'production/kustomization.yaml'
      for (const [id, word] of [
        ['docs/gitops.md#deleting-and-what-guards-it', 'guarded'],
        ['docs/troubleshooting.md#something-is-deleted-or-not-deleted', 'again'],
      ] as const) {
        await site.push('shop', shop(word, { [list]: resources('guarded.yaml'), 'production/guarded.yaml': GUARDED }))
        const guarded = ['configmap/guarded', '-n', await site.spaceOf('development')]
        await eventually(() => site.kubectl('get', ...guarded), PATIENT)
        await site.push('shop', shop(`${word}-no-more`, { [list]: resources() }))
        await until('jsonpath={.status.pendingPrune.count}=1', 'gitopsdeployment/shop')
        await follow(id)
        await isGone(...guarded)
      }
    })

    it('starts an agent', async () => {
      await site.push('config', { '.berth/agents/dev/config.yaml': AGENT_CONFIGURATION })
      await apply(JSON.stringify(project('config')))
      const isConnected = () => isReady('agent.berth.dev/dev')
      await follow('docs/agents.md#register-one-and-start-it')
      await isConnected()
      await follow('docs/troubleshooting.md#an-agent-is-disconnected')
      await follow('docs/agents.md#reach-its-cluster')
      assert.match(await readFile(join(reader.folder, 'dev.yaml'), 'utf8'), 'https://kas.example.com')
      await reader.type('kubectl delete -f agent.yaml')
      await site.kubectl('delete', '-n', 'team-a', 'agent.berth.dev/dev')
      const instead = { 'ca.crt': join(reader.folder, 'ca.crt') }
      await follow('README.md#push-to-git-and-the-cluster-follows', { blocks: [1], folder: REPOSITORY, instead })
      await isConnected()
    })

    it('makes workspaces', async () => {
      await site.push('web', { 'README.md': '# Web' })
      await apply(JSON.stringify(project('web')))
      // Whoever has a workspace develops in it (docs/workspaces-git.md).
      await reader.type('kubectl create rolebinding developers -n team-a --clusterrole=edit --user=berth-admin')
      const ofClass = { networkPolicy: { namespaces: ['git'] }, backup: { onStop: true, archive: { size: '100Mi' } } }
      await site.kubectl('patch', 'workspaceclass', 'default', '--type=merge', '-p', JSON.stringify({ spec: ofClass }))
      await follow('docs/workspaces.md#make-one-and-look-at-it')
      await isRunning('web')
      await follow('docs/troubleshooting.md#a-url-does-not-open')
      await follow('docs/troubleshooting.md#a-workspace-does-not-start-or-has-failed')
      await follow('docs/troubleshooting.md#a-workspace-stopped-by-itself')
      await follow('docs/workspaces.md#stop-start-restart-end')
      await isGone('-n', 'team-a', 'workspace/web')

      await reader.type('berth create web --project team-a/web --claim development -n team-a')
      await isRunning('web')
      await site.berth('stop', 'web', '-n', 'team-a')
      await until('jsonpath={.status.backups[0].state}=Ready', 'workspace/web')
      await follow('docs/workspaces-care.md#backups')
      await isRunning('web-again')
    })

    it('gives a place back, and removes Berth', async () => {
      await site.berth('delete', 'web-again', '-n', 'team-a', '--yes', '--watch')
      await follow('docs/targets.md#delete-a-target-before-its-claim')
      await isGone('-n', 'team-a', 'deploymenttarget/development-dt')
      await follow('docs/targets.md#give-a-place-back', { blocks: [0] })
      const host = new URL(site.cluster().server).host
      await follow('docs/installation.md#remove', { answer: { when: 'to go on: ', keys: `${host}\n` } })
      await site.kubectl('delete', 'namespace', 'team-a', 'berth-system', '--ignore-not-found')
    })

    it('installs it with the proxy, for people who sign in', async () => {
      const outside = await startOutside(site)
      try {
        const [values = ''] = reader.manifests('docs/proxy.md#what-it-needs')
        const issuer = values.replace(/oidcIssuer: .*/, `oidcIssuer: ${outside.provider.issuer}`)
        await reader.write('values.yaml', `${issuer}  oidcCa: ${JSON.stringify(site.tls['ca.crt'])}\n`)
        await reader.write('client-secret', 'secret')
        await follow('docs/proxy.md#what-it-needs')
        await follow('docs/installation.md#certificates')
        await follow('docs/dashboard.md#who-is-connected')
      } finally {
        await outside.close()
      }
      await site.berth('uninstall', '--yes')
      await site.kubectl('delete', 'namespace', 'berth-system', '--ignore-not-found')
    })

    it('installs it by berth install, and by kubectl alone', async () => {
      await follow('docs/installation.md#install')
      await installed()
      await site.berth('uninstall', '--yes')
      const overlay = reader.manifests('docs/installation.md#without-berth-install')[0] ?? ''
      await reader.write('kustomization.yaml', overlay)
      await follow('docs/installation.md#without-berth-install')
      await installed()
    })

    it('is all of it', () => {
      const pages = PAGES.flatMap((pattern) => globSync(pattern, { cwd: REPOSITORY }))
      const parts = pages.flatMap(partsOf).filter((part) => blocksIn(part, 'sh').length > 0)
      const known = [...reader.followed(), ...Object.keys(ELSEWHERE)].toSorted()
      assert.equal(known, parts.map(({ id }) => id).toSorted())
      for (const file of Object.values(ELSEWHERE)) assert.ok(existsSync(join(REPOSITORY, file)), file)
    })
  },
  await lacksNode(),
)

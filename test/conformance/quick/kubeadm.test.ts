import { testDriver } from '../driver-suite.ts'

await testDriver('kubeadm.ts')

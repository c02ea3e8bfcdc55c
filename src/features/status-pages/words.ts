import type { CheckState } from '../../kit/availability.ts';

/** Languages of pages, in the order used in documents. */
export const languages = ['en', 'de', 'fr', 'es'] as const;
export type Language = (typeof languages)[number];

export const announcementStates = ['investigating', 'identified', 'monitoring', 'resolved'] as const;
export type AnnouncementState = (typeof announcementStates)[number];

/** Summary of a page: the worst state of its checks. */
export type PageSummary = 'up' | 'down' | 'partly' | 'maintenance' | 'unknown';

/** Strings of a page in one language. */
export interface Words {
  states: Record<CheckState | AnnouncementState, string>;
  summaries: Record<PageSummary, string>;
  maintenance: string;
  past: string;
  /** Text shown if there are no past announcements. */
  none: string;
  today: string;
  daysAgo: (days: number) => string;
  rule: string;
  updated: string;
  subscribe: string;
  calendar: string;
  /** Strings about subscriptions by mail. */
  mail: {
    address: string;
    intro: string;
    sent: string;
    confirm: string;
    confirmed: string;
    leave: string;
    left: string;
    expired: string;
    back: string;
    /** Text of the mail with the confirmation link. */
    request: (title: string) => string;
  };
}

const en: Words = {
  states: {
    up: 'Up',
    down: 'Down',
    maintenance: 'Maintenance',
    unknown: 'Unknown',
    investigating: 'Investigating',
    identified: 'Identified',
    monitoring: 'Monitoring',
    resolved: 'Resolved',
  },
  summaries: {
    up: 'All systems are up',
    partly: 'Some systems are down',
    down: 'All systems are down',
    maintenance: 'Maintenance is in progress',
    unknown: 'The state of some systems is unknown',
  },
  maintenance: 'Maintenance',
  past: 'Past announcements',
  none: 'No announcements in the last 15 days.',
  today: 'Today',
  daysAgo: (days) => `${days} days ago`,
  rule: 'Percentages cover 90 days: up ÷ (up + down). Maintenance and unknown time do not count.',
  updated: 'Updated',
  subscribe: 'Subscribe by email',
  calendar: 'Maintenance calendar',
  mail: {
    address: 'Email address',
    intro: 'Get each announcement by email. You can unsubscribe with one click.',
    sent: 'Check your email. To confirm your subscription, open the link in the message within 24 hours.',
    confirm: 'Confirm the subscription',
    confirmed: 'You are subscribed.',
    leave: 'Unsubscribe',
    left: 'You are no longer subscribed.',
    expired: 'This link is no longer valid.',
    back: 'Back to the status page',
    request: (title) =>
      `Somebody, probably you, asked for announcements of “${title}” at this address. To get them, open this link and confirm. Otherwise ignore this message.`,
  },
};

const de: Words = {
  states: {
    up: 'Verfügbar',
    down: 'Ausgefallen',
    maintenance: 'Wartung',
    unknown: 'Unbekannt',
    investigating: 'Wird untersucht',
    identified: 'Ursache gefunden',
    monitoring: 'Wird beobachtet',
    resolved: 'Behoben',
  },
  summaries: {
    up: 'Alle Systeme sind verfügbar',
    partly: 'Einige Systeme sind ausgefallen',
    down: 'Alle Systeme sind ausgefallen',
    maintenance: 'Wartungsarbeiten laufen',
    unknown: 'Der Zustand einiger Systeme ist unbekannt',
  },
  maintenance: 'Wartung',
  past: 'Frühere Meldungen',
  none: 'Keine Meldungen in den letzten 15 Tagen.',
  today: 'Heute',
  daysAgo: (days) => `vor ${days} Tagen`,
  rule: 'Prozentangaben für 90 Tage: verfügbar ÷ (verfügbar + ausgefallen). Wartung und unbekannte Zeit zählen nicht.',
  updated: 'Stand',
  subscribe: 'Per E-Mail abonnieren',
  calendar: 'Wartungskalender',
  mail: {
    address: 'E-Mail-Adresse',
    intro: 'Jede Meldung per E-Mail. Abbestellen geht mit einem Klick.',
    sent: 'Sehen Sie in Ihre E-Mails: Der Link darin bestätigt das Abonnement innerhalb von 24 Stunden.',
    confirm: 'Abonnement bestätigen',
    confirmed: 'Das Abonnement ist bestätigt.',
    leave: 'Abbestellen',
    left: 'Das Abonnement ist beendet.',
    expired: 'Dieser Link ist nicht mehr gültig.',
    back: 'Zurück zur Statusseite',
    request: (title) =>
      `Jemand, vermutlich Sie, hat für diese Adresse Meldungen von „${title}“ abonniert. Zum Bestätigen öffnen Sie diesen Link. Andernfalls ignorieren Sie diese Nachricht.`,
  },
};

const fr: Words = {
  states: {
    up: 'En service',
    down: 'En panne',
    maintenance: 'Maintenance',
    unknown: 'Inconnu',
    investigating: 'Analyse en cours',
    identified: 'Cause identifiée',
    monitoring: 'Sous surveillance',
    resolved: 'Résolu',
  },
  summaries: {
    up: 'Tous les systèmes sont en service',
    partly: 'Certains systèmes sont en panne',
    down: 'Tous les systèmes sont en panne',
    maintenance: 'Une maintenance est en cours',
    unknown: "L'état de certains systèmes est inconnu",
  },
  maintenance: 'Maintenance',
  past: 'Annonces passées',
  none: 'Aucune annonce ces 15 derniers jours.',
  today: "Aujourd'hui",
  daysAgo: (days) => `il y a ${days} jours`,
  rule: 'Pourcentages sur 90 jours : en service ÷ (en service + en panne). La maintenance et le temps inconnu ne comptent pas.',
  updated: 'Mis à jour',
  subscribe: "S'abonner par e-mail",
  calendar: 'Calendrier de maintenance',
  mail: {
    address: 'Adresse e-mail',
    intro: 'Chaque annonce par e-mail. Désabonnement en un clic.',
    sent: "Consultez votre messagerie : le lien du message confirme l'abonnement dans les 24 heures.",
    confirm: "Confirmer l'abonnement",
    confirmed: 'Vous êtes abonné.',
    leave: 'Se désabonner',
    left: "Vous n'êtes plus abonné.",
    expired: "Ce lien n'est plus valable.",
    back: 'Retour à la page de statut',
    request: (title) =>
      `Quelqu'un, sans doute vous, a demandé à recevoir les annonces de « ${title} » à cette adresse. Pour les recevoir, ouvrez ce lien et confirmez. Sinon, ignorez ce message.`,
  },
};

const es: Words = {
  states: {
    up: 'Disponible',
    down: 'Caído',
    maintenance: 'Mantenimiento',
    unknown: 'Desconocido',
    investigating: 'En investigación',
    identified: 'Causa identificada',
    monitoring: 'En observación',
    resolved: 'Resuelto',
  },
  summaries: {
    up: 'Todos los sistemas están disponibles',
    partly: 'Algunos sistemas están caídos',
    down: 'Todos los sistemas están caídos',
    maintenance: 'Mantenimiento en curso',
    unknown: 'Se desconoce el estado de algunos sistemas',
  },
  maintenance: 'Mantenimiento',
  past: 'Anuncios anteriores',
  none: 'Ningún anuncio en los últimos 15 días.',
  today: 'Hoy',
  daysAgo: (days) => `hace ${days} días`,
  rule: 'Porcentajes de 90 días: disponible ÷ (disponible + caído). El mantenimiento y el tiempo desconocido no cuentan.',
  updated: 'Actualizado',
  subscribe: 'Suscribirse por correo',
  calendar: 'Calendario de mantenimiento',
  mail: {
    address: 'Dirección de correo',
    intro: 'Cada anuncio por correo. Puede darse de baja con un clic.',
    sent: 'Revise su correo: el enlace del mensaje confirma la suscripción en un plazo de 24 horas.',
    confirm: 'Confirmar la suscripción',
    confirmed: 'La suscripción está confirmada.',
    leave: 'Darse de baja',
    left: 'La suscripción ha terminado.',
    expired: 'Este enlace ya no es válido.',
    back: 'Volver a la página de estado',
    request: (title) =>
      `Alguien, probablemente usted, ha pedido recibir los anuncios de «${title}» en esta dirección. Para recibirlos, abra este enlace y confirme. Si no, ignore este mensaje.`,
  },
};

/** Strings of pages by language. */
export const wordsOf: Record<Language, Words> = { en, de, fr, es };

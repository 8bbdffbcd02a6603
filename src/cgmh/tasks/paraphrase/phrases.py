"""The tables of the phrasebook: how sentences open, and phrases that stand for one another anywhere.

A line of a table is a set of phrases that may be exchanged (``|``). Where there is a ``>``, each phrase before it may
become any of those behind it, but not the other way round; ``/`` parts those before it. The phrases are general
English, written by hand.
"""

# At the beginning of a sentence or of a clause.
OPENINGS = """
is it a good idea to > should i
what was the best | which was the best
what was the most | which was the most
what was the worst | which was the worst
what will happen > what is going to happen
how could we > how can we | what could we do to
what are the different > what are the various
how can i > how do i
how can i / how do i / how should i / how could i > what is the best way to
how could i / how to / how would i / how do i go about > how can i | how do i
how can you > how do you
how can one > how does one
how can you / how do you / how can one / how does one / how can someone / how can a person > what is the best way to
how can we > how do we
how can we / how do we > what is the best way to
how should we > what is the best way to
what are the best ways to > how can i | how do i
what is the easiest way to / what is the simplest way to > how can i easily
what are some ways to / what are the ways to / what are ways to / what are the various ways to > how can i | how can one
what are some ways to | what are the ways to
what can i do to / what should i do to / what do i need to do to / what do i do to > how can i | how do i
what can be done to > how can we
is there any way to | is there a way to
is there any way to / is there a way to / is there any possibility to > is it possible to | how can i
is it possible for me to > can i
is it possible to > can you | is there a way to
do you think | do you believe
does anyone know > do you know
what are some good | what are some great
what are good > what are some good
what are some good > what are some of the best
what are examples of > what are some examples of
what are some | what are a few
what are the best | which are the best
what are some of the > what are the
what are some of the best > which are the best
what are best / which are best > which are the best | what are the best
which are some of the best > what are some of the best
what are the most | which are the most
what are the top | which are the top
what are the worst | which are the worst
what are the greatest | which are the greatest
what are your favorite | which are your favorite
what are your favorite > what are some of your favorite
what is the best | which is the best
what is best / which is best > which is the best | what is the best
what is the most | which is the most
what is the worst | which is the worst
what is the greatest | which is the greatest
what is the biggest | which is the biggest
what is the largest | which is the largest
what is the cheapest | which is the cheapest
what is the highest | which is the highest
what is the fastest | which is the fastest
what is your favorite | which is your favorite
what is the correct way to / what is the right way to / what is the proper way to > how should i | how should one
what is the reason for | what is the reason behind
what are the reasons for | what are the reasons behind
what is the process to | what is the procedure to
what is the process of | what is the procedure of
what is the process for | what is the procedure for
what are the benefits of | what are the advantages of
what are the chances of > what is the likelihood of
what is the scope of / what is the scope for > what are the prospects for
what does it feel like / how does it feel > what is it like
how does it feel > what does it feel like
what do you think of / what do you think about > what is your opinion of | what are your thoughts on
what is your opinion on / what is your opinion about / what is your view on > what do you think about
what are your thoughts on / what are your views on / what are your opinions on > what do you think about
what is meant by > what is the meaning of
what is the definition of > how do you define
how would you define > what is your definition of
what happens if | what will happen if
where can i watch > where is it possible to watch
where is the best place to | what is the best place to
who are the best > who are some of the best
who are some of the > who are the
why is it that people > why do people
how long does it | how much time does it
how long will it | how much time will it
how long would it | how much time would it
how much does it cost to > what does it cost to
how come > why is it that
which > what
what do you think is > in your opinion , what is
what do you think are > in your opinion , what are
what do you think will > in your opinion , what will
what do you think would > in your opinion , what would
who do you think is > in your opinion , who is
who do you think will > in your opinion , who will
who do you think would > in your opinion , who would
in your opinion , what is > what do you think is
in your opinion , who is > who do you think is
what do you mean by / what do we mean by > what is meant by | what is the meaning of
what were some of the > what were the
what were the best | which were the best
what will we > what are we going to
how does someone | how does a person
how can someone | how can a person
how hard is it > how difficult is it
how likely is it that > what is the likelihood that | what are the chances that
how much did it cost to > what did it cost to
how much would it cost to > what would it cost to
how much will it cost to > what will it cost to
when is the best time to | what is the best time to
what steps can be taken to / what is to be done to > what can be done to
do you want to > would you like to
can any one > can anyone
is it okay | is it ok | is it all right
is it advisable to > is it wise to
is it the right time to / is it a right time to > is now the right time to | is this the right time to
are there any ways to / are there ways to > is there a way to
what is difference between > what are the differences between
what animals > which animals
what countries > which countries
what companies > which companies
what states > which states
what books > which books
what movies > which movies
what languages > which languages
what universities > which universities
what colleges > which colleges
what websites > which websites
what apps > which apps
what subjects > which subjects
what cities > which cities
what year > which year
in what year | in which year
who are some of your favorite > who are your favorite
who are your favorite > who are some of your favorite
from where can > where can
can someone tell | could someone tell
can anyone tell | could anyone tell
can someone explain | could someone explain
can anyone explain | could anyone explain
can someone help | could someone help
can anyone help | could anyone help
can anyone suggest > could anyone suggest
can someone suggest > could someone suggest
can anyone recommend > could anyone recommend
i want to > i would like to
in what ways can > how can
in what ways do > how do
in what ways does > how does
in what ways did > how did
if a person > if someone
when a person > when someone
"""

# Whole sentences that ask without a verb, or with the verb behind its subject.
UNASKED = """
difference between > what is the difference between
differences between > what are the differences between
meaning of > what is the meaning of
importance of > what is the importance of
advantages of > what are the advantages of
disadvantages of > what are the disadvantages of
best way to / the best way to > what is the best way to
best ways to / the best ways to > what are the best ways to
examples of > what are some examples of
how one can > how can one | how does one
how i can > how can i | how do i
how you can > how can you | how do you
how we can > how can we | how do we
how safe it is to > how safe is it to
how long it takes to > how long does it take to | how much time does it take to
what i can do > what can i do
what i should do > what should i do
why i can't > why is it that i can't
benefits of > what are the benefits of
effects of > what are the effects of
causes of > what are the causes of
types of > what are the types of
definition of > what is the definition of
purpose of > what is the purpose of
best place to > what is the best place to
best books for > what are the best books for
best books on > what are the best books on
best book for > what is the best book for
best book on > what is the best book on
any tips for > do you have any tips for
any tips on > do you have any tips on
any advice for > do you have any advice for
any advice on > do you have any advice on
any suggestions for > do you have any suggestions for
any suggestions on > do you have any suggestions on
"""

# Anywhere in a sentence.
ANYWHERE = """
advantages and disadvantages | pros and cons
advantages of | benefits of
disadvantages of | drawbacks of | downsides of
what kind of | what type of | what sort of
what kinds of | what types of
kinds of | types of
how much time > how long
how often | how frequently
think of | think about
know if > tell if | know whether
know whether > tell whether
tell if > know if
find out if | find out whether
deal with | handle | cope with
dealing with | handling | coping with
get over > overcome
give up | quit
quit > stop
make money | earn money
making money | earning money
make some money > earn some money
movie | film
movies | films
buy | purchase
buying | purchasing
bought | purchased
children | kids
country | nation
countries | nations
photos | pictures
photo | picture
mobile phone | cell phone
mobile phones | cell phones
cellphone > mobile phone
begin > start
difficult > hard
difficult to | hard to
intelligent > smart
famous > well-known
largest > biggest
easiest | simplest
fastest | quickest
easy way | simple way
cheapest > least expensive
costliest > most expensive
repair > fix
because of | due to
in order to > to
so as to > to
a lot of | lots of
plenty of > a lot of
instead of | rather than
other than | apart from | besides
right now | at the moment
nowadays | these days
of all time > ever
all over the world | around the world | across the world
in the entire world > in the world
each day > every day
each other | one another
people who | those who
a person who > someone who
a large number of > many
a couple of > a few
prior to > before
regarding > about
concerning > about
attempt to > try to
till > until
perhaps > maybe
obtain > get
assist > help
utilize > use
wealthy > rich
scared of | afraid of
get better at > improve at
become better at > get better at
figure out > work out
look for > search for
looking for > searching for
search for > look for
talk to | speak to
talk about | speak about
talking to | speaking to
at the same time > simultaneously
even though | although
for free > free of charge
free of cost > for free
harmful for > bad for
the importance of > the significance of
the significance of > the importance of
the main | the major
the impact of | the effect of
the impacts of | the effects of
the consequences of > the effects of
job opportunities | career opportunities
job opportunities > employment opportunities
start learning > begin learning | begin to learn
start preparing > begin preparing
according to you > in your opinion
find a job > get a job
methods to > ways to
method to > way to
per day > a day
per week > a week
per month > a month
per year > a year
permitted to > allowed to
the main reason | the primary reason
right away > immediately
within the next > in the next
have an impact on > affect
has an impact on > affects
"""

# Anywhere, but they hardly change a sentence: taken where nothing better is found.
SMALL = """
someone | somebody
anyone | anybody
everyone | everybody
"""
